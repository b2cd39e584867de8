import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capability, StateValue } from "@mantel/plugin-sdk";
import { changed, coerce, isConfirmed } from "../../../plugins/ha-discovery/coerce.ts";

const PERCENT = { type: "number", min: 0, max: 100, unit: "%" } as const;
const CHOICE = { type: "choice", values: ["a", "b"] } as const;

for (const [capability, value, kept] of [
  [PERCENT, 0, true],
  [PERCENT, 100, true],
  [PERCENT, -1, false],
  [PERCENT, 101, false],
  [PERCENT, "50", false],
  [PERCENT, NaN, false],
  [{ type: "number" }, -1e9, true],
  [{ type: "number" }, Infinity, false],
  [CHOICE, "b", true],
  [CHOICE, "c", false],
  [{ type: "boolean" }, false, true],
  [{ type: "boolean" }, "ON", false],
  [{ type: "color" }, { hue: 1, saturation: 2 }, true],
  [{ type: "color" }, "red", false],
  [{ type: "text" }, "words", true],
  [{ type: "text" }, 7, false],
] as readonly (readonly [Capability, StateValue, boolean])[]) {
  const about = `${JSON.stringify(value)} of ${JSON.stringify(capability)}`;
  test(`${about} is ${kept ? "kept" : "unknown"}`, () => {
    assert.deepEqual(coerce(capability, value), kept ? value : null);
  });
}

test("a reported text is cut at 1000 characters", () => {
  assert.equal(coerce({ type: "text" }, "x".repeat(1_001)), "x".repeat(1_000));
});

for (const [capability, asked, told, is] of [
  [PERCENT, 50, 50.5, true],
  [PERCENT, 50, 49.5, true],
  [PERCENT, 50, 50.7, false],
  [{ type: "number", unit: "K" }, 4_000, 4_030, true],
  [{ type: "number", unit: "K" }, 4_000, 4_031, false],
  [{ type: "number", unit: "°C" }, 21, 20.75, true],
  [{ type: "number", unit: "°C" }, 21, 20.5, false],
  [{ type: "number", unit: "°C", step: 1 }, 21, 20.5, true],
  [{ type: "number", unit: "°C", step: 1 }, 21, 20.4, false],
  [{ type: "number" }, 3, 3, true],
  [{ type: "number" }, 3, 3.01, false],
  [{ type: "number" }, 3, "3", false],
  [{ type: "number" }, 3, undefined, false],
  [{ type: "number" }, 0, null, false],
  [{ type: "boolean" }, true, true, true],
  [{ type: "boolean" }, true, false, false],
  [CHOICE, "a", "a", true],
  [CHOICE, "a", "b", false],
  [CHOICE, "a", undefined, false],
] as readonly (readonly [Capability, StateValue, StateValue | undefined, boolean])[]) {
  const about = `${JSON.stringify(asked)} of ${JSON.stringify(capability)}`;
  test(`${about} is ${is ? "" : "not "}confirmed by ${JSON.stringify(told)}`, () => {
    assert.equal(isConfirmed(capability, asked, told), is);
  });
}

for (const [asked, told, is] of [
  [[120, 80], [126, 74], true],
  [[120, 80], [114, 86], true],
  [[120, 80], [127, 80], false],
  [[120, 80], [120, 87], false],
  [[1, 80], [358, 80], true],
  [[0, 80], [360, 80], true],
  [[120, 5], [300, 0], true],
  [[120, 6], [300, 6], false],
] as const) {
  test(`a colour of hue and saturation ${asked.join()} is ${is ? "" : "not "}confirmed by ${told.join()}`, () => {
    const colorOf = ([hue, saturation]: readonly [number, number]) => ({ hue, saturation });
    assert.equal(isConfirmed({ type: "color" }, colorOf(asked), colorOf(told)), is);
  });
}

test("a colour is not confirmed by a lamp that shines white", () => {
  assert.equal(isConfirmed({ type: "color" }, { hue: 1, saturation: 2 }, null), false);
});

test("only changed fields are changes, and a new equal colour is not one", () => {
  const before = { on: true, level: 3, color: { hue: 1, saturation: 2 } };

  assert.deepEqual(changed(before, { ...before, color: { hue: 1, saturation: 2 } }), {});
  assert.deepEqual(changed(before, { ...before, level: 4 }), { level: 4 });
  for (const color of [{ hue: 9, saturation: 2 }, { hue: 1, saturation: 9 }, null]) {
    assert.deepEqual(changed(before, { color }), { color });
  }
  assert.deepEqual(changed({}, before), before);
  assert.deepEqual(changed({ color: null }, { color: before.color }), { color: before.color });
});
