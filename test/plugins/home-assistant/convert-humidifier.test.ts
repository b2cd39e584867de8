import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const READ = { type: "number", unit: "%", readOnly: true } as const;
const SWITCH = { type: "boolean" } as const;
const choice = (...values: string[]) => ({ type: "choice", values });

for (const [device_class, kind] of [
  ["humidifier", "humidifier"],
  ["dehumidifier", "dehumidifier"],
  [undefined, "humidifier"],
] as const) {
  test(`a humidifier of the class ${device_class} is a ${kind}`, () => {
    assert.equal(view(entity("humidifier", "on", { device_class })).kind, kind);
  });
}

test("a humidifier shows what it has, and takes commands", () => {
  const of = entity("humidifier", "on", {
    min_humidity: 30,
    max_humidity: 80,
    target_humidity_step: 5,
    humidity: 45,
    current_humidity: 41.5,
    available_modes: ["normal", "sleep"],
    mode: "sleep",
    action: "drying",
    supported_features: 1,
  });

  assert.deepEqual(view(of).capabilities, {
    on: SWITCH,
    targetHumidity: { ...PERCENT, min: 30, max: 80, step: 5 },
    humidity: READ,
    mode: choice("normal", "sleep"),
    action: { ...choice("off", "idle", "humidifying", "drying"), readOnly: true },
  });
  assert.deepEqual(view(of).state, {
    on: true,
    targetHumidity: 45,
    humidity: 41.5,
    mode: "sleep",
    action: "drying",
  });
  assert.deepEqual(calls(of, { on: true, mode: "normal", targetHumidity: 52.6 }), [
    ["humidifier.turn_on"],
    ["humidifier.set_mode", { mode: "normal" }],
    ["humidifier.set_humidity", { humidity: 53 }],
  ]);
  assert.deepEqual(calls(of, { on: false }), [["humidifier.turn_off"]]);
});

for (const attributes of [
  {},
  { supported_features: 1 },
  { min_humidity: 80, max_humidity: 30 },
  { min_humidity: -5, max_humidity: 30 },
  { min_humidity: 0, max_humidity: 101 },
  { target_humidity_step: 0 },
]) {
  test(`a humidifier with ${JSON.stringify(attributes)} takes a target from 0 to 100 %`, () => {
    assert.deepEqual(capabilities("humidifier", attributes), {
      on: SWITCH,
      targetHumidity: PERCENT,
    });
  });
}

test("a target humidity is reached by a value that was rounded", () => {
  const at = (humidity: number) => entity("humidifier", "on", { humidity });

  assert.equal(isConfirmed({ targetHumidity: 52.6 }, at(40), at(53)), true);
  assert.equal(isConfirmed({ targetHumidity: 52.6 }, at(40), at(50)), false);
});
