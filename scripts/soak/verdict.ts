import { rounded } from "../bench/shared/figures.ts";
import type { Reading } from "./reading.ts";

/** Memory of the host and its children together, or of a page, may grow by this. */
const MAX_GROWTH_MIB = 10;
/**
 * What is flat goes up and down by a few: a spare that is starting, a notice of the dashboard. A leak of
 * each round would be thousands.
 */
const SLACK: Reading = {
  hostDescriptors: 3,
  childrenDescriptors: 10,
  timers: 3,
  emitters: 20,
  functions: 300,
  pageNodes: 50,
  pageListeners: 5,
};

/** How much each figure has grown. */
export function growthOf(start: Reading, end: Reading): Reading {
  return Object.fromEntries(
    Object.keys(start).map((name) => [name, rounded((end[name] ?? 0) - (start[name] ?? 0))]),
  );
}

/** What has grown beyond its bound, the usual one or of `bounds`; nothing when the run was sound. */
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
