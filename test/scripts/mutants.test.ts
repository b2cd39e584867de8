import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context } from "../../scripts/mutants/context.ts";
import {
  beforeEach,
  describe,
  startFile,
  takeTests,
  test as register,
} from "../../scripts/mutants/node-test.ts";
import { runTest } from "../../scripts/mutants/run-test.ts";

const DEADLINE_MS = 5_000;

async function run(work: (t: Context) => unknown, deadlineMs = DEADLINE_MS) {
  startFile("a.test.ts");
  void register("works", work);
  const [registered] = takeTests();
  assert.ok(registered);
  return runTest(registered, deadlineMs);
}

test("tests are registered with their file and suite, and without those that are skipped", () => {
  startFile("a.test.ts");
  void register("first", () => {});
  void register("first", { skip: false }, () => {});
  void register("never", { skip: "no broker" }, () => {});
  startFile("b.test.ts");
  void describe("inner", () => void register("second", () => {}));

  const ids = takeTests().map(({ id }) => id);

  assert.deepEqual(ids, [
    "a.test.ts > first",
    "a.test.ts > first (2)",
    "b.test.ts > inner > second",
  ]);
  assert.deepEqual(takeTests(), []);
});

test("a test runs behind the hook of its file, and ends with what it asked for", async () => {
  const said: string[] = [];
  startFile("a.test.ts");
  beforeEach(() => said.push("before"));
  void register("works", async (t: Context) => {
    t.after(() => said.push("after"));
    await t.test("part", (part: Context) => part.after(() => said.push("after part")));
    said.push("work");
  });
  const [registered] = takeTests();
  assert.ok(registered);

  const error = await runTest(registered, DEADLINE_MS);

  assert.equal(error, undefined);
  assert.deepEqual(said, ["before", "after part", "work", "after"]);
});

test("a failure of a test, its part or its end is given", async () => {
  const fail = () => assert.fail("broken");

  const errors = [
    await run(fail),
    await run(async (t) => t.test("part", fail)),
    await run((t) => t.after(fail)),
  ];

  assert.deepEqual(
    errors.map((error) => error?.message),
    ["broken", "broken", "broken"],
  );
});

test("a test that hangs with mocked timers fails at its deadline, and its mocks are restored", async () => {
  const { random } = Math;
  const timeout = setTimeout;
  let signal: AbortSignal | undefined;

  const error = await run(async (t) => {
    signal = t.signal;
    t.mock.method(Math, "random", () => 0.5);
    await t.test("part", async (part: Context) => {
      part.mock.timers.enable({ apis: ["setTimeout"] });
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
  }, 50);

  assert.equal(error?.message, '"a.test.ts > works" takes more than 50 ms');
  assert.equal(Math.random, random);
  assert.equal(setTimeout, timeout);
  assert.equal(signal?.aborted, true);
});
