import { cpus } from "node:os";
import { type Static, Type } from "@mantel/plugin-sdk";

/** Time that one core has spent since the machine started, in milliseconds. */
export const CoreTimes = Type.Object({ busyMs: Type.Number(), totalMs: Type.Number() });
export type CoreTimes = Static<typeof CoreTimes>;

export interface CpuLoad {
  /** Busy share of all cores; null without a previous reading. */
  readonly percent: number | null;
  readonly perCore: number[];
}

/** The times of each core. The system counts in steps of 10 ms. */
export function readCores(): CoreTimes[] {
  return cpus().map(({ times: { user, nice, sys, idle, irq } }) => {
    const busyMs = user + nice + sys + irq;
    return { busyMs, totalMs: busyMs + idle };
  });
}

/** The load between two readings. Unknown if the number of cores has changed. */
export function loadBetween(before: readonly CoreTimes[], now: readonly CoreTimes[]): CpuLoad {
  const spent = now.map(({ busyMs, totalMs }, at) => ({
    busyMs: busyMs - (before[at]?.busyMs ?? 0),
    totalMs: totalMs - (before[at]?.totalMs ?? 0),
  }));
  if (before.length !== now.length || spent.some(({ totalMs }) => totalMs <= 0)) {
    return { percent: null, perCore: [] };
  }
  const all = spent.reduce((sum, core) => ({
    busyMs: sum.busyMs + core.busyMs,
    totalMs: sum.totalMs + core.totalMs,
  }));
  return { percent: percentOf(all), perCore: spent.map(percentOf) };
}

function percentOf({ busyMs, totalMs }: CoreTimes): number {
  const percent = Math.round((1_000 * busyMs) / totalMs) / 10;
  return Math.min(Math.max(percent, 0), 100); // a core's idle time may be counted late
}
