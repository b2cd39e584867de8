import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const choice = (...values: string[]) => ({ type: "choice", values });

for (const [attributes, more] of [
  [{ supported_features: 1 }, { on: SWITCH }],
  [{ supported_features: 2 }, { on: SWITCH }],
  [{}, { on: { ...SWITCH, readOnly: true } }],
  [
    { supported_features: 5, available_tones: ["fire", "police"] },
    { tone: choice("fire", "police") },
  ],
  [
    { supported_features: 5, available_tones: { 1: "fire", 2: "police" } },
    { tone: choice("fire", "police") },
  ],
  [{ supported_features: 5, available_tones: [1, 2] }, { tone: choice("1", "2") }],
  [{ supported_features: 5 }, {}],
  [{ supported_features: 5, available_tones: "fire" }, {}],
  [{ supported_features: 1, available_tones: ["fire"] }, {}],
  [{ supported_features: 9 }, { volume: { type: "number", min: 0, max: 100, step: 1, unit: "%" } }],
  [
    { supported_features: 17 },
    { duration: { type: "number", min: 0, max: 86_400, step: 1, unit: "s" } },
  ],
] as const) {
  test(`a siren with ${JSON.stringify(attributes)} has ${JSON.stringify(Object.keys(more))}`, () => {
    assert.deepEqual(capabilities("siren", attributes), { on: SWITCH, ...more });
  });
}

test("tone, volume and duration go with the call that turns a siren on", () => {
  const of = entity("siren", "off", { supported_features: 31 });
  const settings = { tone: "fire", volume: 40, duration: 9.6 };

  assert.deepEqual(view(of).state, { on: false });
  assert.deepEqual(calls(of, { on: true }), [["siren.turn_on", {}]]);
  assert.deepEqual(calls(of, { on: true, ...settings }), [
    ["siren.turn_on", { tone: "fire", volume_level: 0.4, duration: 10 }],
  ]);
  assert.deepEqual(calls(of, { on: false, ...settings }), [["siren.turn_off"]]);
  assert.deepEqual(calls(of, settings), []);
});
