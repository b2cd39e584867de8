import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bundle } from "../../../scripts/test/bundle.ts";
import { hasFailed, PROGRAMS, runFiles } from "../../../scripts/test/run-files.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { LOAD } from "../../helpers/until.ts";

const bundled = await bundle(PROGRAMS);

const passes = 'import { test } from "node:test"; test("passes", () => {});';
const hangs = `import { test } from "node:test";
  test("hangs", async () => {
    setInterval(() => {}, 1_000);
    await new Promise(() => {});
  });`;

test("a file that hangs loses none of the results before it, and names those behind it", async (t) => {
  const { run } = await filesOf(t, { a: passes, b: hangs, c: passes });

  const { results, unfinished } = await run({ silenceMs: 2_000 * LOAD });

  assert.deepEqual(results.map(hasFailed), [false, true]);
  assert.match(
    String(results[1]?.fault),
    /^no test started or ended for .* the last one was "hangs"$/,
  );
  assert.deepEqual(unfinished, ["c"]);
});

test("the silence that ends a process counts from its last test, not from its start", async (t) => {
  const slow = `import { test } from "node:test"; import { setTimeout as delay } from "node:timers/promises";
    for (let part = 0; part < 6; part += 1) test("waits", () => delay(${300 * LOAD}));`;
  const { run } = await filesOf(t, { slow });

  const { results } = await run({ silenceMs: 1_200 * LOAD });

  assert.equal(results[0]?.fault, undefined);
  assert.equal(results[0]?.tests.filter(({ isSuite }) => !isSuite).length, 6);
});

test("a file that ends its process fails, and those behind it are not finished", async (t) => {
  const ends = 'import { test } from "node:test"; test("ends", () => process.exit(7));';
  const { run } = await filesOf(t, { a: passes, b: ends, c: passes, d: passes });

  const { results, unfinished } = await run();

  const told = results.filter(({ file }) => file !== "a").map(({ file, fault }) => [file, fault]);
  assert.deepEqual(told, [["b", "the process ended with 7"]]);
  const ofFirst = [
    ...results.filter((each) => !hasFailed(each)).map(({ file }) => file),
    ...unfinished,
  ];
  assert.deepEqual(
    ofFirst,
    ["a", "c", "d"],
    "the first file passed, or runs again if its reports are lost",
  );
});

test("a file that cannot be loaded fails, and those behind it run", async (t) => {
  const { run } = await filesOf(t, { a: 'import "./absent.mjs";', b: passes });

  const { results, unfinished } = await run();

  assert.deepEqual(results.map(hasFailed), [true, false]);
  assert.match(String(results[0]?.tests.at(-1)?.error), /Cannot find module/);
  assert.deepEqual(unfinished, []);
});

for (const [name, code] of [
  ["performance.now", "performance.now = () => 0"],
  ["Date", "globalThis.Date = class extends Date {}"],
  ["fetch", "globalThis.fetch = () => undefined"],
] as const) {
  test(`a file that leaves ${name} mocked fails`, async (t) => {
    const leaves = `import { test } from "node:test"; test("mocks", () => { ${code}; });`;
    const { run } = await filesOf(t, { leaves, next: passes });

    const [first] = (await run()).results;

    assert.match(String(first?.tests.at(-1)?.error), new RegExp(`leaves ${name} mocked`));
  });
}

for (const [name, code] of [
  ["an error", 'setImmediate(() => { throw new Error("lost"); })'],
  ["a rejection", 'void Promise.reject(new Error("lost"))'],
] as const) {
  test(`a file fails by ${name} that nobody catches`, async (t) => {
    const loses = `import { test } from "node:test";
      test("loses", async () => { ${code}; await new Promise((done) => setTimeout(done, 50)); });`;
    const { run } = await filesOf(t, { before: passes, loses, next: passes });

    const { results } = await run();

    assert.deepEqual(results.map(hasFailed), [false, true, false]);
    assert.match(String(results[1]?.tests.at(-1)?.error), /loses: nobody caught an error[^]*lost/);
  });
}

test("lines that a test prints belong to its file", async (t) => {
  const says = (word: string) => `import { test } from "node:test";
    test("says", () => { console.log("${word}"); console.error("to stderr: ${word}"); });`;
  const { run } = await filesOf(t, { a: says("alpha"), b: says("beta") });

  const [a, b] = (await run()).results;

  assert.match(String(a?.output), /^alpha$/m);
  assert.doesNotMatch(String(a?.output), /^beta$/m);
  assert.match(String(b?.output), /^beta$/m);
});

test("a skipped test has its reason, and a failed one its error and line", async (t) => {
  const file = `import { test } from "node:test";
    test("skipped", { skip: "no broker" }, () => {});
    test("fails", () => { throw new Error("wrong"); });`;
  const { run } = await filesOf(t, { file });

  const { tests = [] } = (await run()).results[0] ?? {};

  assert.equal(tests[0]?.skipped, "no broker");
  assert.match(String(tests[1]?.error), /^Error: wrong/);
  assert.equal(tests[1]?.line, 3);
});

/** Test files by name, and a function that runs them in one process. */
async function filesOf(t: TestContext, sources: Readonly<Record<string, string>>) {
  const folder = await emptyFolder(t);
  const names = Object.keys(sources);
  await Promise.all(
    names.map((name) => writeFile(join(folder, `${name}.mjs`), String(sources[name]))),
  );
  const { NODE_TEST_CONTEXT: _, TEST_ORDER: __, ...env } = process.env;
  return {
    run: ({ silenceMs = 60_000 * LOAD } = {}) =>
      runFiles(names, {
        silenceMs,
        env,
        nodeOptions: [],
        pathOf: (file) => (PROGRAMS.includes(file) ? bundled(file) : join(folder, `${file}.mjs`)),
      }),
  };
}
