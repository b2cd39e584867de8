// npm test [-- path...]: the tests below the paths; without a path all of them, with coverage floors.

import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const TEST_TIMEOUT_MS = 60_000;
/** Test files at once. Each may run a host with its plugins' processes. */
const CONCURRENCY = 2;

/** Lines that must be covered, in percent: below these folders, and (c8's own settings) in all. */
const FLOORS = {
  "host/modules": 90,
  "host/auth": 90,
  "plugin-sdk": 90,
};

const paths = process.argv.slice(2);
const files = (await Promise.all((paths.length > 0 ? paths : ["test"]).map(findTests))).flat();
if (files.length === 0) {
  console.error(`no test files in ${paths.join(", ")}`);
  process.exit(1);
}
const test = [
  "--import",
  "tsx",
  "--test",
  "--test-reporter=spec",
  `--test-timeout=${TEST_TIMEOUT_MS}`,
  `--test-concurrency=${CONCURRENCY}`,
  ...files,
];
process.exitCode =
  paths.length > 0 ? await run(process.execPath, test) : await runWithCoverage(test);

async function findTests(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => name.endsWith(".test.ts") && !join(path, name).startsWith("test/fixtures/"))
    .map((name) => join(path, name))
    .toSorted();
}

async function runWithCoverage(args: readonly string[]): Promise<number> {
  const tests = await run("node_modules/.bin/c8", [process.execPath, ...args]);
  if (tests !== 0) return tests;
  for (const [folder, lines] of Object.entries(FLOORS)) {
    const floor = ["check-coverage", "--include", `${folder}/**`, "--lines", String(lines)];
    const code = await run("node_modules/.bin/c8", floor);
    if (code !== 0) {
      console.error(`less than ${lines} % of the lines of ${folder} are covered`);
      return code;
    }
  }
  return 0;
}

/** Runs a program with this terminal, and gives its exit code. */
function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    spawn(program, args, { stdio: "inherit" })
      .on("error", reject)
      .on("exit", (code) => resolve(code ?? 1));
  });
}
