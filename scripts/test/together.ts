// together.ts (FILE PATH)...: the tests of several files in this process, each file a suite. PATH is the code of FILE.

import { after, before, describe } from "node:test";
import { pathToFileURL } from "node:url";
import type { TestRecord } from "./records.ts";
import { registerCollected } from "./shuffled.ts";
import { followPromises } from "./untraced.ts";

/** Functions that tests replace. One that is not restored makes the tests of other files hang. */
const replaceable = () => ({
  "performance.now": Reflect.get(performance, "now") as unknown,
  "Math.random": Math.random,
  Date,
  "Date.now": Reflect.get(Date, "now") as unknown,
  setTimeout,
  fetch,
});
const originals = replaceable();

/** Errors that nobody caught since the last file ended. */
const uncaught: unknown[] = [];
process.on("uncaughtExceptionMonitor", (error) => uncaught.push(error));
process.on("unhandledRejection", (reason) => uncaught.push(reason));

// Coverage is of this process: those that a test starts would be slower, and most are ended before they write it down.
delete process.env["NODE_V8_COVERAGE"];

const named = process.argv.slice(2);
/** Node 22 runs no test before all suites are loaded, Node 20 those of the first suite while it waits for the second. */
const ARE_LOADED_FIRST = Number.parseInt(process.versions.node, 10) >= 22;
/**
 * Resolves when the next file may be loaded: the tests of files that wait for the same module would all belong to the first
 * of them. Where tests may run by then, they have ended: a module that is loaded while a test mocks the clock would keep
 * the mocked functions.
 */
let last: Promise<unknown> = Promise.resolve();
for (let at = 0; at < named.length; at += 2) {
  const [file = "", path = ""] = named.slice(at, at + 2);
  const previous = last;
  let done = (): void => undefined;
  last = new Promise<void>((resolve) => (done = resolve));
  // The suite is registered here, and its tests run one after another behind those of the file before.
  void describe(file, async () => {
    before(() => announce(file));
    after(() => {
      done();
      assertRestored(file);
      assertNothingUncaught(file);
    });
    // A promise of its own, because Node gives a test to the suite in which the awaited promise was made.
    await new Promise<void>((resolve) => {
      void previous.then(() => {
        followPromises(true);
        resolve();
      });
    });
    announce(file);
    await load(path).catch((error: unknown) => {
      done();
      throw error;
    });
    if (ARE_LOADED_FIRST) done();
  });
}
followPromises(false);

function announce(file: string): void {
  const record: TestRecord = { kind: "file", name: file };
  process.stdout.write(`\u001e${JSON.stringify(record)}\n`);
}

async function load(path: string): Promise<void> {
  try {
    await import(pathToFileURL(path).href);
  } finally {
    registerCollected();
    followPromises(false);
  }
}

function assertNothingUncaught(file: string): void {
  const errors = uncaught.splice(0);
  if (errors.length > 0) throw new Error(`${file}: nobody caught an error`, { cause: errors[0] });
}

function assertRestored(file: string): void {
  const now = replaceable();
  for (const name of Object.keys(now) as (keyof typeof now)[]) {
    if (now[name] !== originals[name]) throw new Error(`${file} leaves ${name} mocked`);
  }
}
