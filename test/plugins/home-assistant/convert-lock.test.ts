import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const YES_NO = { type: "boolean", readOnly: true } as const;

for (const [state, locked, jammed] of [
  ["locked", true, false],
  ["unlocking", true, false],
  ["unlocked", false, false],
  ["locking", false, false],
  ["open", false, false],
  ["opening", false, false],
  ["jammed", null, true],
  ["unknown", null, false],
] as const) {
  test(`a lock that is ${state} is ${locked === null ? "in an unknown state" : locked ? "locked" : "unlocked"}`, () => {
    assert.deepEqual(view(entity("lock", state)).state, { locked, jammed });
  });
}

test("a lock is locked and unlocked, unless it wants a code", () => {
  const of = entity("lock", "locked");

  assert.deepEqual(view(of).capabilities, { locked: SWITCH, jammed: YES_NO });
  assert.deepEqual(calls(of, { locked: true }), [["lock.lock"]]);
  assert.deepEqual(calls(of, { locked: false }), [["lock.unlock"]]);
  assert.deepEqual(capabilities("lock", { code_format: "number" }), {
    locked: YES_NO,
    jammed: YES_NO,
  });
});
