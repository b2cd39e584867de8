import assert from "node:assert/strict";
import { test } from "node:test";
import { Undo } from "../../../../host/dashboard/editor/undo.ts";

test("steps are undone and redone, each with its name", () => {
  const steps = Undo.of(0).done(1, "one").done(2, "two");

  const back = steps.undone();

  assert.equal(back.value, 1);
  assert.equal(back.undoLabel, "one");
  assert.equal(back.redoLabel, "two");
  assert.equal(back.redone().value, 2);
  assert.equal(steps.undone().undone().undone().value, 0);
  assert.equal(steps.redone().value, 2);
});

test("a new step after an undo discards the undone steps", () => {
  const steps = Undo.of(0).done(1, "one").undone().done(5, "five");

  assert.equal(steps.redoLabel, undefined);
  assert.equal(steps.undone().value, 0);
});

test("steps in a row with one key are one step", () => {
  const steps = Undo.of("").done("a", "typed", "title").done("ab", "typed", "title");

  assert.equal(steps.value, "ab");
  assert.equal(steps.undone().value, "");
  assert.equal(steps.done("abc", "typed", "icon").undone().value, "ab");
});

test("a hundred steps are kept", () => {
  let steps = Undo.of(0);
  for (let value = 1; value <= 250; value++) steps = steps.done(value, `${value}`);

  for (let taken = 0; taken < 250; taken++) steps = steps.undone();

  assert.equal(steps.value, 150);
});
