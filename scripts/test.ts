// npm test [-- path...]: the tests below the paths; without a path all of them, with coverage floors.

import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const TEST_TIMEOUT_MS = 120_000;
/** Test files at once. Each may run a host with its plugins' processes. */
const CONCURRENCY = 2;

/**
 * Lines that must be covered in these files, in percent; c8's settings have the floor for all. What plugins'
 * processes run cannot be counted, because they are ended before they could write it down: most of
 * plugin-sdk/runtime is that.
 */
const FLOORS = {
  "host/auth/**": 95,
  "host/modules/**": 85,
  "plugin-sdk/*.ts": 95,
  "plugin-sdk/rpc/**": 95,
};

const paths = process.argv.slice(2);
const files = (await Promise.all((paths.length > 0 ? paths : ["test"]).map(findTests))).flat();
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

/** The test files below a path. Ends the run when there are none, because nothing would be tested. */
async function findTests(path: string): Promise<string[]> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => fail(`there is no ${path}`),
  );
  const names = isFile ? [""] : await readdir(path, { recursive: true });
  const found = names
    .map((name) => join(path, name))
    .filter((file) => file.endsWith(".test.ts") && !file.startsWith("test/fixtures/"));
  return found.length > 0 ? found.toSorted() : fail(`there are no tests in ${path}`);
}

async function runWithCoverage(args: readonly string[]): Promise<number> {
  const tests = await run("node_modules/.bin/c8", [process.execPath, ...args]);
  if (tests !== 0) return tests;
  for (const [pattern, lines] of Object.entries(FLOORS)) {
    const floor = ["check-coverage", "--include", pattern, "--lines", String(lines)];
    const code = await run("node_modules/.bin/c8", floor);
    if (code !== 0) {
      console.error(`less than ${lines} % of the lines of ${pattern} are covered`);
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

function fail(message: string): never {
  console.error(`test: ${message}`);
  process.exit(1);
}
