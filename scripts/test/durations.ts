import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TestFile } from "./imports.ts";

const FILE = "node_modules/.cache/mantel-tests/durations.json";
/** A file that has not run yet. */
const UNKNOWN_MS = { quick: 500, withProcesses: 10_000 };

/** Milliseconds by the path of a test file, from the runs before. */
export type Durations = Record<string, number>;

export function readDurations(): Durations {
  try {
    return JSON.parse(readFileSync(FILE, "utf8")) as Durations;
  } catch {
    return {};
  }
}

export function saveDurations(durations: Durations): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(durations));
}

export function expectedMs(durations: Durations, { path, startsProcesses }: TestFile): number {
  return durations[path] ?? (startsProcesses ? UNKNOWN_MS.withProcesses : UNKNOWN_MS.quick);
}
