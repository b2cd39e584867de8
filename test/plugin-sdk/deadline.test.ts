import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import { watchResources } from "../helpers/resources.ts";

test("work that finishes in time returns its value and leaves no timer", async () => {
  const assertClosed = watchResources();

  assert.equal(await withDeadline(Promise.resolve("done"), 60_000, "the work"), "done");

  await assertClosed();
});

test("work that fails before its deadline rejects with its own error and leaves no timer", async () => {
  const assertClosed = watchResources();
  const failure = new Error("out of paper");

  await assert.rejects(withDeadline(Promise.reject(failure), 60_000, "the work"), failure);

  await assertClosed();
});

test("late work fails with an error that names the work and its deadline", async () => {
  const late = withDeadline(new Promise(() => undefined), 10, "printing");

  await assert.rejects(late, {
    code: "deadline_passed",
    message: "printing timed out after 10 ms",
  });
});

test("work that fails after its deadline causes no unhandled rejection", async () => {
  const failsLate = delay(20).then(() => {
    throw new Error("too late to matter");
  });

  await assert.rejects(withDeadline(failsLate, 5, "the work"), { code: "deadline_passed" });

  await assert.rejects(failsLate, /too late/); // an unhandled rejection would have ended the test
});
