import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const MOVING = { type: "choice", values: ["opening", "closing", "stopped"] } as const;
const shown = { readOnly: true } as const;
const [OPEN, CLOSE, SET_POSITION, STOP, SET_TILT] = [1, 2, 4, 8, 128];

for (const [supported_features, position, moving] of [
  [0, { ...PERCENT, ...shown }, { ...MOVING, ...shown }],
  [SET_POSITION, PERCENT, { ...MOVING, ...shown }],
  [OPEN, { ...PERCENT, ...shown }, MOVING],
  [CLOSE, { ...PERCENT, ...shown }, MOVING],
  [STOP, { ...PERCENT, ...shown }, MOVING],
] as const) {
  test(`a cover with the features ${supported_features} takes commands as far as it has them`, () => {
    assert.deepEqual(capabilities("cover", { supported_features }), { position, moving });
  });
}

test("slats can be set by their feature, and are shown if only their position is known", () => {
  const tilt = (attributes: Readonly<Record<string, unknown>>) =>
    capabilities("cover", attributes)["tilt"];

  assert.deepEqual(tilt({ supported_features: SET_TILT }), PERCENT);
  assert.deepEqual(tilt({ current_tilt_position: 30 }), { ...PERCENT, ...shown });
  assert.equal(tilt({}), undefined);
});

for (const [state, position, moving] of [
  ["open", 100, "stopped"],
  ["closed", 0, "stopped"],
  ["opening", null, "opening"],
  ["closing", null, "closing"],
  ["unknown", null, null],
  ["unavailable", null, null],
] as const) {
  test(`a cover without a position that is ${state} is at ${position}, ${moving}`, () => {
    assert.deepEqual(view(entity("cover", state)).state, { position, moving });
  });
}

test("a cover that reports its position is there, whatever its state", () => {
  const of = entity("cover", "open", { current_position: 40, current_tilt_position: 10 });
  assert.deepEqual(view(of).state, { position: 40, moving: "stopped", tilt: 10 });
});

test("each field of a command calls its service", () => {
  const of = entity("cover", "open");

  assert.deepEqual(calls(of, { moving: "opening" }), [["cover.open_cover"]]);
  assert.deepEqual(calls(of, { moving: "closing" }), [["cover.close_cover"]]);
  assert.deepEqual(calls(of, { moving: "stopped", position: 30, tilt: 60 }), [
    ["cover.stop_cover"],
    ["cover.set_cover_position", { position: 30 }],
    ["cover.set_cover_tilt_position", { tilt_position: 60 }],
  ]);
});

for (const [value, state, is] of [
  ["opening", "opening", true],
  ["opening", "open", true],
  ["opening", "closed", false],
  ["opening", "closing", false],
  ["closing", "closing", true],
  ["closing", "closed", true],
  ["closing", "open", false],
  ["stopped", "open", true],
  ["stopped", "opening", false],
  ["stopped", "closing", false],
] as const) {
  test(`${value} is ${is ? "" : "not "}reached when a cover is ${state}`, () => {
    const before = entity("cover", value === "stopped" ? "opening" : "unknown");
    assert.equal(isConfirmed({ moving: value }, before, entity("cover", state)), is);
  });
}

for (const [from, to, state, is] of [
  [40, 90, "opening", true],
  [40, 90, "closing", false],
  [40, 10, "closing", true],
  [40, 10, "opening", false],
  [40, 90, "open", false],
] as const) {
  test(`a cover on its way from ${from} to ${to} has ${is ? "" : "not "}begun when it is ${state}`, () => {
    const at = (current_position: number, now: string) =>
      entity("cover", now, { current_position, supported_features: SET_POSITION });

    assert.equal(isConfirmed({ position: to }, at(from, "open"), at(from + 1, state)), is);
  });
}

test("a cover at an unknown position has obeyed only when it has arrived", () => {
  const at = (current_position: number) => entity("cover", "opening", { current_position });

  assert.equal(isConfirmed({ position: 90 }, entity("cover", "unknown"), at(50)), false);
  assert.equal(isConfirmed({ position: 90 }, entity("cover", "unknown"), at(90)), true);
});
