// Loaded into a host before its own code (`--import`): at SIGUSR2 it writes what only the host itself
// can count to the file named by SOAK_FIGURES.
import { EventEmitter } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { queryObjects } from "node:v8";

/** Counted after a full garbage collection, which `queryObjects` begins with. */
export interface HostFigures {
  /** Active timers. */
  readonly timers: number;
  readonly emitters: number;
  /** Every listener, timer and promise that is left behind holds on to a function. */
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
