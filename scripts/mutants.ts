// npm run mutants -- PATH[,PATH...] [--only] [TEST...]: mutation testing with Stryker. It changes the code below each
// PATH, a folder or a file, in one place at a time, and runs the tests that reach that place, all in one process. Prints
// the changes that no test noticed and the score, which is the share of noticed ones. The tests are those of the same
// folder below test/ and those of each TEST; with --only those of each TEST. Test files that need a process of their own
// are left out, unless a TEST names the file itself: name those that start no host or plugin. Test files that need a page
// are left out, unless PATH is in host/dashboard. The score of each folder is in docs/mutants.md.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { bundleInto } from "./test/bundle.ts";
import { findTests } from "./test/find-tests.ts";
import { readTestFile, type TestFile } from "./test/imports.ts";

/** Installed on the first use, because a contributor's installation does not need its 130 packages. */
const PACKAGE = "@stryker-mutator/core@9.6.1";
const FOLDER = resolve("node_modules/.cache/mantel-mutants");
const PROGRAM = join(FOLDER, "node_modules/@stryker-mutator/core/bin/stryker.js");
const PAGES = "host/dashboard";

const [given = "", ...rest] = process.argv.slice(2);
const paths = given.split(",");
if (!paths.every((path) => existsSync(path))) {
  process.stderr.write("usage: npm run mutants -- PATH[,PATH...] [--only] [TEST...]\n");
  process.exit(2);
}
const tests = await chooseTests();
installStryker();
process.exitCode = run(["run", await writeOptions()]);

/** Those that need a page come first: their globals have to be there when the code loads. Prints what is left out. */
async function chooseTests(): Promise<string[]> {
  const more = rest.filter((each) => each !== "--only");
  const places = rest.includes("--only") ? more : [...paths.map(testsBeside), ...more];
  const found = await Promise.all(places.filter((place) => existsSync(place)).map(findTests));
  const hasPage = paths.some((path) => path.startsWith(PAGES));
  const files = [...new Set(found.flat())].map(readTestFile);
  const chosen = files.filter(
    (file) => (sharesProcess(file) || more.includes(file.path)) && (hasPage || !file.usesPage),
  );
  for (const file of files) {
    if (!chosen.includes(file))
      console.log(`left out: ${file.path}${sharesProcess(file) ? " (page)" : " (own process)"}`);
  }
  const inOrder = chosen.toSorted((a, b) => Number(b.usesPage) - Number(a.usesPage));
  return inOrder.map(({ path }) => path);
}

function sharesProcess({ isAlone, startsProcesses }: TestFile): boolean {
  return !isAlone && !startsProcesses;
}

function testsBeside(path: string): string {
  return join("test", isFolder(path) ? path : dirname(path));
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory();
}

function installStryker(): void {
  if (existsSync(PROGRAM)) return;
  mkdirSync(FOLDER, { recursive: true });
  const flags = ["--prefix", FOLDER, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", ["install", ...flags, PACKAGE], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

/** Gives the path of the options for this run. */
async function writeOptions(): Promise<string> {
  // Stryker loads it without a TypeScript loader.
  const [runner, nodeTest] = ["scripts/mutants/runner.ts", "scripts/mutants/node-test.ts"];
  const pathOf = await bundleInto(join(FOLDER, "runner"), [runner, nodeTest]);
  const bundle = [resolve("scripts/mutants/bundle.ts"), "mutants/tests.mjs", pathOf(nodeTest)];
  const options = {
    mutate: paths.map((path) => (isFolder(path) ? `${path}/**/*.ts` : path)),
    testRunner: "one-process",
    plugins: [pathOf(runner)],
    buildCommand: ["node --import tsx", ...bundle, ...tests].join(" "),
    coverageAnalysis: "perTest",
    timeoutMS: 60_000, // for endless loops; each test has its own deadline
    allowConsoleColors: false,
    reporters: ["clear-text", "json"],
    clearTextReporter: { reportTests: false, logTests: false },
    jsonReporter: { fileName: join(FOLDER, "report.json") },
    tempDirName: join(FOLDER, "copies"), // inside node_modules, so that packages are found from there
    symlinkNodeModules: false,
    ignorePatterns: ["docs", "*.md"],
    tsconfigFile: "none.json", // Stryker would read it with an older TypeScript's API
    disableTypeChecks: true,
  };
  const file = join(FOLDER, "options.json");
  writeFileSync(file, JSON.stringify(options));
  return file;
}

/**
 * Runs Stryker where changed code can do no harm: it might remove files or end processes. Everything but its own folder
 * is read-only, and it has its own processes, network and temporary files.
 */
function run(args: readonly string[]): number {
  const root = resolve(".");
  const system = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  const temporary = ["--tmpfs", tmpdir(), "--tmpfs", "/var/tmp"];
  const sandbox = [...system, ...temporary, "--ro-bind", root, root, "--bind", FOLDER, FOLDER];
  const confined = [...sandbox, "--unshare-all", "--die-with-parent", process.execPath, PROGRAM];
  const { status, error } = spawnSync("bwrap", [...confined, ...args], { stdio: "inherit" });
  if (error)
    process.stderr.write(`mutants: bubblewrap is needed to confine changed code: ${error}\n`);
  return status ?? 1;
}
