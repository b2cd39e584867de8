import assert from "node:assert/strict";
import { test } from "node:test";
import { domainOf } from "../../../plugins/home-assistant/convert.ts";
import { calls, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const CODE = { type: "text" } as const;
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

test("a lock is locked and unlocked, with a code if it wants one", () => {
  const of = entity("lock", "locked");
  const safe = entity("lock", "locked", { code_format: "^\\d{4}$" });

  assert.deepEqual(view(of).capabilities, { locked: SWITCH, jammed: YES_NO });
  assert.deepEqual(calls(of, { locked: true }), [["lock.lock"]]);
  assert.deepEqual(calls(of, { locked: false }), [["lock.unlock"]]);
  assert.deepEqual(view(safe).capabilities, { locked: SWITCH, jammed: YES_NO, code: CODE });
  assert.deepEqual(view(safe).state, { locked: true, jammed: false });
  assert.deepEqual(calls(safe, { locked: false, code: "1234" }), [
    ["lock.unlock", { code: "1234" }],
  ]);
  assert.deepEqual(calls(safe, { code: "1234" }), []);
});

test("a lock with the feature pulls its latch", () => {
  const at = (state: string) => entity("lock", state, { supported_features: 1, code_format: "x" });

  assert.deepEqual(view(at("locked")).capabilities, {
    locked: SWITCH,
    jammed: YES_NO,
    unlatch: { type: "command" },
    code: CODE,
  });
  assert.deepEqual(calls(at("locked"), { unlatch: true, code: "1" }), [
    ["lock.open", { code: "1" }],
  ]);
  for (const state of ["opening", "open", "unlocking", "unlocked"]) {
    assert.equal(isConfirmed({ unlatch: true }, at("locked"), at(state)), true, state);
  }
  assert.equal(isConfirmed({ unlatch: true }, at("locked"), at("locked")), false);
});

test("a code is confirmed with the value that it goes with", () => {
  const at = (state: string) => entity("lock", state, { code_format: "x" });

  assert.equal(isConfirmed({ locked: false, code: "1" }, at("locked"), at("unlocked")), true);
  assert.equal(isConfirmed({ locked: false, code: "1" }, at("locked"), at("locked")), false);
});

test("a command fails when a lock gets jammed, and not because it was", () => {
  const of = (state: string) => entity("lock", state);
  const fails = (before: string, now: string) => domainOf("lock")?.fails?.(of(now), of(before));

  assert.equal(fails("locking", "jammed"), "lock.x is jammed");
  assert.equal(fails("jammed", "jammed"), undefined);
  assert.equal(fails("jammed", "locked"), undefined);
  assert.equal(fails("unlocked", "locked"), undefined);
});
