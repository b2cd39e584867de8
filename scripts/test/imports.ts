// Follows the imports of test files, to tell which tests need a process of their own.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const IMPORT =
  /^\s*(?:import|export)\s(?!type\s)[^;'"]*?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
const BROWSER = "playwright-core";
const PAGE = "happy-dom";
/** A test that reaches one of these starts processes, or counts open handles or CPU time of its own. */
const NEEDS_OWN_PROCESS = [
  "node:child_process",
  BROWSER,
  "test/helpers/resources.ts",
  "plugins/calendar/ics/pace.ts",
];
/** Every test of the HTTP API reaches these, which start a process for a backup and for nothing else. */
const NOT_FOLLOWED = ["host/backup/", "host/http/"];
/** A test that counts the CPU time of its process would count that of other tests, too. */
const COUNTS_CPU_TIME = "process.cpuUsage(";

export interface TestFile {
  readonly path: string;
  /** True if it may share a process with other test files. */
  readonly canShare: boolean;
  readonly usesBrowser: boolean;
  /** True if it needs the globals of a page, which it may share with other files that need them. */
  readonly usesPage: boolean;
}

/** Reads a test file, and all files that it imports. The path is relative to the working directory. */
export function readTestFile(path: string): TestFile {
  const reached = reachedFrom(path);
  return {
    path,
    canShare:
      !NEEDS_OWN_PROCESS.some((each) => reached.has(each)) &&
      !readFileSync(path, "utf8").includes(COUNTS_CPU_TIME),
    usesBrowser: reached.has(BROWSER),
    usesPage: reached.has(PAGE),
  };
}

function reachedFrom(path: string): ReadonlySet<string> {
  const reached = new Set([path]);
  for (const each of reached) for (const imported of importsOf(each)) reached.add(imported);
  return reached;
}

const known = new Map<string, readonly string[]>();

function importsOf(path: string): readonly string[] {
  const found = known.get(path) ?? readImports(path);
  known.set(path, found);
  return found;
}

function readImports(path: string): readonly string[] {
  if (
    !path.endsWith(".ts") ||
    NOT_FOLLOWED.some((folder) => path.startsWith(folder)) ||
    !existsSync(path)
  )
    return [];
  return Array.from(readFileSync(path, "utf8").matchAll(IMPORT), ([, named, dynamic]) => {
    const specifier = named ?? dynamic ?? "";
    return specifier.startsWith(".") ? join(path, "..", specifier) : specifier;
  });
}
