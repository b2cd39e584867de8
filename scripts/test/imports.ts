// Follows the imports of test files, to tell which tests need a process of their own.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const IMPORT =
  /^\s*(?:import|export)\s(?!type\s)[^;'"]*?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
const BROWSER = ["playwright-core", "@mantel/plugin-sdk/widget-testing/chromium"];
const PAGE = ["happy-dom", "@mantel/plugin-sdk/widget-testing"];
/** A test that reaches one of these starts processes, or counts open handles. */
const STARTS_PROCESSES = ["node:child_process", ...BROWSER, "test/helpers/resources.ts"];
/** Every test of the HTTP API reaches these, which start a process for a backup and for nothing else. */
const NOT_FOLLOWED = ["host/backup/", "host/http/"];
/** A test that counts the CPU time of its process would count that of other tests, too. */
const COUNTS_CPU_TIME = /\bprocess\.cpuUsage\(/;
/** A test that starts processes and looks at its own, or changes it, would see what other tests did to it. */
const OF_THE_PROCESS =
  /\bprocess\.(cpuUsage|chdir|getActive)|Of\(process\.pid|\bprocess\.env\[[^\]]+\] = |delete process\.env/;

/** A test file with tests that need no browser looks whether there is one. */
const ASKS_FOR_BROWSER = /\bhas(Browser|Chromium)\(/;

export interface TestFile {
  readonly path: string;
  /** True if it must have a process of its own. */
  readonly isAlone: boolean;
  /** True if it starts processes, or a host in this one. */
  readonly startsProcesses: boolean;
  readonly usesBrowser: boolean;
  /** True if all of it needs a browser; otherwise its tests skip themselves. */
  readonly needsBrowser: boolean;
  /** True if it needs the globals of a page, which it may share with other files that need them. */
  readonly usesPage: boolean;
}

/** Reads a test file, and all files that it imports. The path is relative to the working directory. */
export function readTestFile(path: string): TestFile {
  const reached = reachedFrom(path);
  const startsProcesses = STARTS_PROCESSES.some((each) => reached.has(each));
  const usesBrowser = BROWSER.some((each) => reached.has(each));
  const source = readFileSync(path, "utf8");
  return {
    path,
    startsProcesses,
    isAlone: (startsProcesses ? OF_THE_PROCESS : COUNTS_CPU_TIME).test(source),
    usesBrowser,
    needsBrowser: usesBrowser && !ASKS_FOR_BROWSER.test(source),
    usesPage: PAGE.some((each) => reached.has(each)),
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
