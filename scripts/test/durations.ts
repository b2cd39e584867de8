import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { TestFile } from "./imports.ts";

/** Of the slow files, in seconds, for a clone that has not run them yet; `npm test -- --durations` writes it. */
const COMMITTED = resolve(import.meta.dirname, "durations.json");
/** Quicker files are not in it. */
const SLOW_MS = 3_000;
const CACHE = "node_modules/.cache/mantel-tests";
/** A file that has not run yet. */
const UNKNOWN_MS = { quick: 500, withProcesses: 3_000 };

/** Milliseconds by the path of a test file, from the runs before. */
export type Durations = Record<string, number>;

/** Those of runs with coverage, which take longer, are kept apart. */
export function readDurations({ coverage }: { readonly coverage: boolean }): Durations {
  return { ...readCommitted(), ...read(cacheFile(coverage)) };
}

function readCommitted(): Durations {
  const seconds = Object.entries(read(COMMITTED));
  return Object.fromEntries(seconds.map(([file, s]) => [file, s * 1_000]));
}

export function saveDurations(
  durations: Durations,
  { coverage }: { readonly coverage: boolean },
): void {
  const file = cacheFile(coverage);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...read(file), ...durations }));
}

/** Writes the committed durations; those of files that have not run now stay. */
export function commitDurations(durations: Durations): void {
  const slow = Object.entries({ ...readCommitted(), ...durations })
    .filter(([file, ms]) => ms > SLOW_MS && existsSync(file))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, ms]) => [file, Math.round(ms / 1_000)]);
  writeFileSync(COMMITTED, `${JSON.stringify(Object.fromEntries(slow), undefined, 2)}\n`);
}

export function expectedMs(durations: Durations, { path, startsProcesses }: TestFile): number {
  return durations[path] ?? (startsProcesses ? UNKNOWN_MS.withProcesses : UNKNOWN_MS.quick);
}

function cacheFile(coverage: boolean): string {
  return `${CACHE}/durations${coverage ? "-coverage" : ""}.json`;
}

function read(file: string): Durations {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Durations;
  } catch {
    return {};
  }
}
