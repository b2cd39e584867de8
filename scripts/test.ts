// npm test [-- path...]: the tests below the paths; without a path all but those below test/long.
// npm run test:coverage: the same, and the coverage floors. npm run test:long: those below test/long.
// With --repeat a file that failed runs once more, alone, and the report names it as unsteady if it passes then.

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compileHost } from "../host/compiled.js";
import { bundle } from "./test/bundle.ts";
import { startCoverage } from "./test/coverage.ts";
import { expectedMs, readDurations, saveDurations } from "./test/durations.ts";
import { findTests } from "./test/find-tests.ts";
import { readTestFile, type TestFile } from "./test/imports.ts";
import { measureLoad } from "./test/load.ts";
import { Report } from "./test/report.ts";
import { hasFailed, type Outcome, PROGRAMS, runFiles } from "./test/run-files.ts";
import { warmCache } from "./test/warm-cache.ts";

/** The time that one test may take, on a quiet machine. */
const TEST_TIMEOUT_MS = 120_000;
/** Test processes at once. Each may run a host with its plugins' processes. */
const CONCURRENCY = 5;
/** Tests below LONG load the machine themselves. */
const CONCURRENCY_OF_LONG = 1;
/** Test files that need no process of their own share so many. */
const SHARED_PROCESSES = 6;
/**
 * Test files that start processes share one by so many: to start it, and to load hosts or Playwright, takes about a
 * second of CPU time.
 */
const FILES_WITH_PROCESSES = 5;

const SETUP = fileURLToPath(new URL("setup.js", import.meta.url));
/** Minutes each: npm test leaves them to npm run test:long. */
const LONG = "test/long/";

/** The globals of a page, which packages of widgets look for when they load: before any bundle. */
const PAGE = "plugin-sdk/widget-testing/page.ts";

const FLAGS = ["--coverage", "--repeat"];
const paths = process.argv.slice(2).filter((argument) => !FLAGS.includes(argument));
const mayRepeat = process.argv.includes("--repeat");
const files = await findAll();
const compiled = await compileHost(); // otherwise the first hosts of the tests would all do it at once
const isLong = files.every((file) => file.startsWith(LONG));
const concurrency = isLong ? CONCURRENCY_OF_LONG : CONCURRENCY;
const load = measureLoad(concurrency);
const coverage = process.argv.includes("--coverage") ? await startCoverage() : undefined;
const testFiles = files.map(readTestFile);
const cache = testFiles.some(({ startsProcesses }) => startsProcesses)
  ? await warmCache(compiled)
  : undefined;
const browser = testFiles.some(({ usesBrowser }) => usesBrowser) ? await startBrowser() : undefined;
// c8 follows the lines of single files, and not those of bundles.
const pathInBundle = coverage ? undefined : await bundle([...PROGRAMS, PAGE, ...files]);
// With extra certificates each of some thousand processes would parse all root certificates at its start.
const { NODE_TEST_CONTEXT: _, NODE_EXTRA_CA_CERTS: __, ...environment } = process.env;
const limits = {
  silenceMs: TEST_TIMEOUT_MS * load,
  pathOf: pathInBundle ?? ((file: string) => resolve(file)),
  nodeOptions: pathInBundle
    ? ["--enable-source-maps"]
    : ["--import", "tsx", "--import", "./scripts/test/css-text.js"],
  env: {
    ...environment,
    TEST_LOAD: String(load),
    ...(cache !== undefined && { TEST_CACHE: cache }),
    ...(browser && { TEST_BROWSER: browser.wsEndpoint() }),
    ...coverage?.env,
  },
};

const ofPages = new Set(testFiles.filter(({ usesPage }) => usesPage).map(({ path }) => path));

process.once("SIGINT", () => process.exit(130)).once("SIGTERM", () => process.exit(143));
const durations = readDurations();
const report = new Report({ isVerbose: paths.length > 0 });
const queue = inProcesses(testFiles);
const failed: Outcome[] = [];
await Promise.all(Array.from({ length: concurrency }, runQueue));
for (const first of failed) {
  report.addRepeated(first, await run(first.files));
}
await browser?.close();
saveDurations(durations);
report.finish(load);
if (report.hasFailed) process.exitCode = 1;
else if (coverage) process.exitCode = await coverage.check();

async function runQueue(): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const outcome = await run(next);
    if (mayRepeat && hasFailed(outcome)) failed.push(outcome);
    else Object.assign(durations, report.add(outcome));
  }
}

/** Runs files in a process of their own; those of pages in one that has the globals of a page from its start. */
function run(group: readonly string[]): Promise<Outcome> {
  if (!group.some((file) => ofPages.has(file))) return runFiles(group, limits);
  const page = pathToFileURL(limits.pathOf(PAGE)).href;
  return runFiles(group, { ...limits, nodeOptions: [...limits.nodeOptions, "--import", page] });
}

/** The files of each process, those that take longest first. */
function inProcesses(all: readonly TestFile[]): string[][] {
  const ms = (file: TestFile) => expectedMs(durations, file);
  const total = (group: readonly TestFile[]) => group.reduce((sum, file) => sum + ms(file), 0);
  const inOne = all.filter(({ isAlone }) => !isAlone);
  const quick = inOne.filter(({ startsProcesses }) => !startsProcesses);
  const slow = inOne.filter(({ startsProcesses }) => startsProcesses);
  // with the globals of a page, what a test starts would not work as it does without them
  const withoutPage = slow.filter(({ usesPage }) => !usesPage);
  const groups = [
    ...inTurns(
      quick.filter(({ usesPage }) => !usesPage).toSorted((a, b) => ms(b) - ms(a)),
      SHARED_PROCESSES,
    ),
    quick.filter(({ usesPage }) => usesPage),
    ...neighbours(withoutPage.filter(({ usesBrowser }) => usesBrowser)),
    ...neighbours(withoutPage.filter(({ usesBrowser }) => !usesBrowser)),
    ...neighbours(slow.filter(({ usesPage }) => usesPage)),
    ...all.filter(({ isAlone }) => isAlone).map((file) => [file]),
  ];
  return groups
    .filter((group) => group.length > 0)
    .toSorted((a, b) => total(b) - total(a))
    .map((group) => group.map(({ path }) => path));
}

/** Deals the files out to at most `count` processes. */
function inTurns(all: readonly TestFile[], count: number): TestFile[][] {
  const used = Math.min(count, Math.ceil(all.length / count));
  return Array.from({ length: used }, (_each, group) =>
    all.filter((_file, index) => index % used === group),
  );
}

/** Groups of files that are beside each other, whose process has loaded most of what the next one needs. */
function neighbours(all: readonly TestFile[]): TestFile[][] {
  const groups: TestFile[][] = [];
  for (const file of all) {
    const group = groups.at(-1);
    if (group && group.length < FILES_WITH_PROCESSES) group.push(file);
    else groups.push([file]);
  }
  return groups;
}

/** Playwright is large, and loaded for this alone. */
async function startBrowser() {
  const { serveBrowser } = await import("../test/helpers/browser.ts");
  return serveBrowser();
}

async function findAll(): Promise<string[]> {
  if (paths.length > 0) return (await Promise.all(paths.map(findTests))).flat();
  spawnSync(process.execPath, [SETUP, "--test"], { stdio: "inherit" }); // it says which tests are skipped
  return (await findTests("test")).filter((file) => !file.startsWith(LONG));
}
