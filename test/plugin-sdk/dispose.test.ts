import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";

test("what was opened last is closed first, and one after the other", async () => {
  const closed: string[] = [];
  const { onDispose, scope } = openScope();
  onDispose(() => void closed.push("first"));
  onDispose(async () => {
    await turn();
    closed.push("second");
  });
  onDispose(() => void closed.push("third"));

  const faults = await scope.dispose();

  assert.deepEqual(closed, ["third", "second", "first"]);
  assert.deepEqual(faults, []);
});

test("a release that fails is told and keeps no other from running", async () => {
  const closed: string[] = [];
  const { onDispose, scope } = openScope();
  onDispose(() => void closed.push("first"));
  onDispose(() => Promise.reject(new Error("later")));
  onDispose(() => {
    throw new Error("at once");
  });

  const faults = await scope.dispose();

  assert.deepEqual(faults.map(String), ["Error: at once", "Error: later"]);
  assert.deepEqual(closed, ["first"]);
});

test("what is opened by a release is closed as well", async () => {
  const closed: string[] = [];
  const { onDispose, scope } = openScope();
  onDispose(() => onDispose(() => void closed.push("late")));

  await scope.dispose();

  assert.deepEqual(closed, ["late"]);
});

test("everything is closed once, however often the scope is disposed", async () => {
  let closed = 0;
  const { onDispose, scope } = openScope();
  onDispose(() => void closed++);

  await Promise.all([scope.dispose(), scope.dispose()]);
  await scope.dispose();

  assert.equal(closed, 1);
});

/** `onDispose` is passed on without its scope, as plugins get it. */
function openScope() {
  const scope = new DisposeScope();
  const { onDispose } = scope;
  return { scope, onDispose };
}
