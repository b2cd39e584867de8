// npm test [-- path...]: the tests below the paths; without a path all but those below test/long.
// npm run test:coverage: the same, and the coverage floors. npm run test:long: those below test/long. npm run test:all
// (--long): the coverage, and those below test/long behind the others; it takes less time than both commands.
// With --repeat a file that failed runs once more, alone, and the report names it as unsteady if it passes then.
// With --durations the time of each slow file is written to scripts/test/durations.json.
// TEST_ORDER=random runs the tests of each file, and its subtests, in a random order and prints its seed;
// TEST_ORDER=<seed> repeats that order.

import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { compileHost } from "../host/compiled.js";
import { LATER_FAST_CODE } from "../host/fast-code.ts";
import { bundle } from "./test/bundle.ts";
import { type Coverage, startCoverage } from "./test/coverage.ts";
import {
  commitDurations,
  type Durations,
  expectedMs,
  readDurations,
  saveDurations,
} from "./test/durations.ts";
import { findTests } from "./test/find-tests.ts";
import { groupFiles } from "./test/groups.ts";
import { readTestFile, type TestFile } from "./test/imports.ts";
import { measureLoad } from "./test/load.ts";
import { memoryFolder } from "./test/memory-folder.ts";
import { chooseSeed, shuffle } from "./test/order.ts";
import { Report } from "./test/report.ts";
import { type FileResult, hasFailed, PROGRAMS, runFiles } from "./test/run-files.ts";
import { warmCache } from "./test/warm-cache.ts";

/** The time that one test may take, on a quiet machine. */
const TEST_TIMEOUT_MS = 120_000;
/** Test processes at once. Each may run a host with its plugins' processes. */
const CONCURRENCY = 4;
/** So many more while none of them uses a browser: those that start processes wait for much of their time. */
const MORE_WITHOUT_BROWSER = 1;
/** Tests below LONG load the machine themselves; alone, each leaves a core idle for most of its time. */
const CONCURRENCY_OF_LONG = 3;

/** Of Go, in which esbuild is written: it collects garbage a quarter as often. */
const GARBAGE_PERCENT = "400";

const SETUP = "scripts/setup.js";
/** Long ones: npm test leaves them to npm run test:long. */
const LONG = "test/long/";

/** The globals of a page, which packages of widgets look for when they load: before any bundle. */
const PAGE = "plugin-sdk/widget-testing/page.ts";

const FLAGS = ["--coverage", "--long", "--repeat", "--durations"];
const paths = process.argv.slice(2).filter((argument) => !FLAGS.includes(argument));
const [hasCoverage, hasLong, mayRepeat, writesDurations] = FLAGS.map((flag) =>
  process.argv.includes(flag),
);
const seed = chooseSeed(process.env["TEST_ORDER"]);
const found = await findAll();
const report = new Report({ isVerbose: paths.length > 0, seed });
const browser = found.some(({ usesBrowser }) => usesBrowser) ? await startBrowser() : undefined;
const testFiles = found.filter(({ needsBrowser }) => browser !== undefined || !needsBrowser);
for (const { path } of found) {
  if (!testFiles.some((file) => file.path === path)) {
    report.addSkipped(path, "Chromium is not installed");
  }
}

const compiled = await compileHost(); // otherwise the first hosts of the tests would all do it at once
const atOnce = testFiles.every(({ path }) => isLong(path)) ? CONCURRENCY_OF_LONG : CONCURRENCY;
const load = measureLoad(Math.min(atOnce, testFiles.length));
const coverage = hasCoverage ? await startCoverage() : undefined;
const [cache, pathOf] = await Promise.all([
  testFiles.some(({ startsProcesses }) => startsProcesses)
    ? warmCache(compiled, { hasPlugins: paths.length === 0 })
    : undefined,
  bundle([...PROGRAMS, PAGE, ...testFiles.map(({ path }) => path)], {
    forCoverage: coverage !== undefined,
    isRandom: seed !== undefined,
  }),
]);
// With extra certificates each of some thousand processes would parse all root certificates at its start.
const temporary = memoryFolder();
const { NODE_TEST_CONTEXT: _, NODE_EXTRA_CA_CERTS: __, ...environment } = process.env;
const limits = {
  silenceMs: TEST_TIMEOUT_MS * load,
  pathOf,
  // Mocked timers are marked as experimental, and each process would say so.
  nodeOptions: [
    ...LATER_FAST_CODE,
    "--enable-source-maps",
    "--disable-warning=ExperimentalWarning",
  ],
  env: {
    GOGC: GARBAGE_PERCENT,
    ...environment,
    TEST_LOAD: String(load),
    ...(temporary !== undefined && { TMPDIR: temporary }),
    ...(seed !== undefined && { TEST_ORDER: seed }),
    ...(cache !== undefined && { TEST_CACHE: cache }),
    ...(browser && { TEST_BROWSER: browser.wsEndpoint() }),
  },
};

const ofPages = new Set(testFiles.filter(({ usesPage }) => usesPage).map(({ path }) => path));
const ofBrowser = new Set(
  testFiles.filter(({ usesBrowser }) => usesBrowser).map(({ path }) => path),
);

process.once("SIGINT", () => process.exit(130)).once("SIGTERM", () => process.exit(143));
process.stdout.once("error", () => process.exit(1)); // such as `npm test | head`, which reads no further
const durations = readDurations({ coverage: coverage !== undefined });
const ran: Durations = {};
const msOf = (file: TestFile) => expectedMs(durations, file);
const groups = [
  ...groupFiles(
    testFiles.filter(({ path }) => !isLong(path)),
    msOf,
  ),
  ...groupFiles(
    testFiles.filter(({ path }) => isLong(path)),
    msOf,
    1,
  ),
];
const queue = groups.map((group) => inOrder(group.map(({ path }) => path)));
const failed: FileResult[] = [];
/** Groups that run and count for the coverage. */
let covering = 0;
let checking: ReturnType<Coverage["check"]> | undefined;
const slots = Array.from({ length: CONCURRENCY + MORE_WITHOUT_BROWSER }, (_each, slot) => slot);
await Promise.all(slots.map(runQueue));
for (const first of failed) {
  report.announceRepeated(first);
  const { results } = await run([first.file]);
  for (const second of results) report.addRepeated(second);
}
await browser?.close();
saveDurations(ran, { coverage: coverage !== undefined });
if (writesDurations) commitDurations(ran);
const checked = await checking;
if (checked) process.stdout.write(checked.output);
report.finish(load);
process.exitCode = report.hasFailed ? 1 : checked?.code;

async function runQueue(slot: number): Promise<void> {
  for (let next = take(slot); next; next = take(slot)) {
    const counts = isCovered(next);
    if (counts) covering += 1;
    const { results, unfinished } = await run(next, counts ? coverage?.env : undefined);
    if (counts) covering -= 1;
    if (unfinished.length > 0) queue.unshift(unfinished);
    for (const result of results) {
      if (mayRepeat && hasFailed(result)) failed.push(result);
      else report.add(result);
      if (!hasFailed(result)) ran[result.file] = result.ms;
    }
    if (covering === 0 && !queue.some(isCovered)) checking ??= coverage?.check().catch(toChecked);
  }
}

function isLong(path: string): boolean {
  return path.startsWith(LONG);
}

/** A check that failed itself. */
function toChecked(error: unknown): Awaited<ReturnType<Coverage["check"]>> {
  return { output: `${String(error)}\n`, code: 1 };
}

/** True for files that count for the coverage. Those with a browser wait for what it and a host run, which is not counted. */
function isCovered(group: readonly string[]): boolean {
  return !group.some((file) => isLong(file) || ofBrowser.has(file));
}

/** The next files of the queue, in which those with a browser are last, and long ones behind them. */
function take(slot: number): readonly string[] | undefined {
  const [next = []] = queue;
  const withBrowser = next.some((file) => ofBrowser.has(file));
  const most = withBrowser ? CONCURRENCY : CONCURRENCY + MORE_WITHOUT_BROWSER;
  return slot < (next.some(isLong) ? CONCURRENCY_OF_LONG : most) ? queue.shift() : undefined;
}

/** Runs files in a process of their own; those of pages in one that has the globals of a page from its start. */
function run(group: readonly string[], more: NodeJS.ProcessEnv = {}): ReturnType<typeof runFiles> {
  const usesPage = group.some((file) => ofPages.has(file));
  const page = usesPage ? ["--import", pathToFileURL(pathOf(PAGE)).href] : [];
  const nodeOptions = [...limits.nodeOptions, ...page];
  return runFiles(group, { ...limits, nodeOptions, env: { ...limits.env, ...more } });
}

function inOrder(files: readonly string[]): readonly string[] {
  return seed === undefined ? files : shuffle(files, (file) => file, seed);
}

/** Playwright is large, and loaded for this alone. */
async function startBrowser() {
  const { serveBrowser } = await import("../test/helpers/browser.ts");
  return serveBrowser();
}

async function findAll() {
  return (await findPaths()).map(readTestFile);
}

async function findPaths(): Promise<string[]> {
  if (paths.length > 0) return (await Promise.all(paths.map(findTests))).flat();
  spawnSync(process.execPath, [SETUP, "--test"], { stdio: "inherit" }); // it says which tests are skipped
  return (await findTests("test")).filter((file) => hasLong === true || !isLong(file));
}
