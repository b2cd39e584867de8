import { rounded } from "../bench/shared/figures.ts";
import type { Reading } from "./reading.ts";

/** Allowed growth of memory: host and children together, or a page. */
const MAX_GROWTH_MIB = 10;
/**
 * Allowed growth of counts. They vary slightly, for example while a warm process starts. A leak per round would add
 * thousands.
 */
const SLACK: Reading = {
  hostDescriptors: 3,
  childrenDescriptors: 10,
  timers: 3,
  emitters: 20,
  functions: 300,
  pageNodes: 50,
  pageListeners: 5,
  cacheFiles: 1, // the record of a build, which is not stored if a save came within a tick of the file clock
};

/** The growth of each figure. */
export function growthOf(start: Reading, end: Reading): Reading {
  return Object.fromEntries(
    Object.keys(start).map((name) => [name, rounded((end[name] ?? 0) - (start[name] ?? 0))]),
  );
}

/** The figures that have grown beyond their limit: the default limit or the one in `bounds`. */
export function faultsOf(growth: Reading, bounds: Reading = {}): string[] {
  const { hostRssMiB = 0, childrenMiB = 0, ...others } = growth;
  const memory = rounded(hostRssMiB + childrenMiB);
  const faults = memory > MAX_GROWTH_MIB ? [`host and children grew by ${memory} MiB`] : [];
  for (const [name, grown] of Object.entries(others)) {
    if (name.startsWith("control ")) continue;
    const bound = bounds[name] ?? usualBound(name);
    if (grown > bound) faults.push(`${name} grew by ${grown}, and ${bound} is the bound`);
  }
  return faults;
}

function usualBound(name: string): number {
  return name.endsWith("MiB") ? MAX_GROWTH_MIB : (SLACK[name] ?? 0);
}
