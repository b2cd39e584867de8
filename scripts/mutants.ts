// npm run mutants -- PATH [--only] [TEST...]: mutation testing with Stryker. It changes the code below PATH, a folder or
// a file, in one place at a time, and runs the test files that reach that place. Prints the changes that no test noticed
// and the score, which is the share of noticed ones. The tests are those of the same folder below test/ and those of
// each TEST; with --only those of each TEST. Code that runs in the process of a plugin stays as it is there. The score
// of each folder is in docs/mutants.md.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findTests } from "./test/find-tests.ts";

/** Installed on the first use, because a contributor's installation does not need its 130 packages. */
const PACKAGES = ["@stryker-mutator/core@9.6.1", "@stryker-mutator/tap-runner@9.6.1"];
const FOLDER = resolve("node_modules/.cache/mantel-mutants");
const PROGRAM = join(FOLDER, "node_modules/@stryker-mutator/core/bin/stryker.js");
const RUNNER = join(FOLDER, "node_modules/@stryker-mutator/tap-runner/dist/src/index.js");
/** The folder of the bundled tests in Stryker's copy of the repository. */
const BUNDLES = "mutants";

const [path = "", ...rest] = process.argv.slice(2);
const more = rest.filter((each) => each !== "--only");
if (!existsSync(path)) {
  process.stderr.write("usage: npm run mutants -- PATH [--only] [TEST...]\n");
  process.exit(2);
}
const isFolder = statSync(path).isDirectory();
const besideCode = join("test", isFolder ? path : dirname(path));
const given = rest.includes("--only") ? more : [besideCode, ...more];
const places = given.filter((place) => existsSync(place));
const tests = [...new Set((await Promise.all(places.map(findTests))).flat())];
installStryker();
process.exitCode = run(["run", writeOptions()]);

function installStryker(): void {
  if (existsSync(PROGRAM)) return;
  mkdirSync(FOLDER, { recursive: true });
  const flags = ["--prefix", FOLDER, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", ["install", ...flags, ...PACKAGES], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

/** Gives the path of the options for this run. */
function writeOptions(): string {
  const options = {
    mutate: [isFolder ? `${path}/**/*.ts` : path],
    testRunner: "tap",
    plugins: [RUNNER],
    buildCommand: `node --import tsx scripts/mutants/bundle.ts ${BUNDLES} ${tests.join(" ")}`,
    tap: {
      testFiles: tests.map((file) => join(BUNDLES, file.replace(/\.ts$/, ".mjs"))),
      nodeArgs: ["--test-reporter=tap"],
      forceBail: true,
    },
    coverageAnalysis: "perTest",
    concurrency: Math.max(1, availableParallelism() - 1),
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

function run(args: readonly string[]): number {
  return spawnSync(process.execPath, [PROGRAM, ...args], { stdio: "inherit" }).status ?? 1;
}
