import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";

test("resources are closed one after another, last opened first", async () => {
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

test("a failing release is reported, and the others still run", async () => {
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

test("a resource opened during a release is closed too", async () => {
  const closed: string[] = [];
  const { onDispose, scope } = openScope();
  onDispose(() => onDispose(() => void closed.push("late")));

  await scope.dispose();

  assert.deepEqual(closed, ["late"]);
});

test("resources are closed once, even if the scope is disposed several times", async () => {
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
