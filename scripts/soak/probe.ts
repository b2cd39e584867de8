// Loaded into a host before its own code (`--import`). At SIGUSR2 it writes figures that only the host itself can count
// to the file in SOAK_FIGURES.
import { EventEmitter } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { queryObjects } from "node:v8";

/** The figures after a full garbage collection, which `queryObjects` performs. */
export interface HostFigures {
  /** Active timers. */
  readonly timers: number;
  readonly emitters: number;
  /** Functions, because each leaked listener, timer or promise keeps one alive. */
  readonly functions: number;
  readonly heapBytes: number;
}

const file = process.env.SOAK_FIGURES ?? "";

process.on("SIGUSR2", () => {
  const figures: HostFigures = {
    timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    emitters: queryObjects(EventEmitter, { format: "count" }),
    functions: queryObjects(Function, { format: "count" }),
    heapBytes: process.memoryUsage().heapUsed,
  };
  writeFileSync(`${file}.tmp`, JSON.stringify(figures));
  renameSync(`${file}.tmp`, file);
});
