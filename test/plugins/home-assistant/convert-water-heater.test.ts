import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const CELSIUS = { type: "number", unit: "°C", readOnly: true } as const;
const choice = (...values: string[]) => ({ type: "choice", values });
const BOILER = {
  min_temp: 35,
  max_temp: 65,
  current_temperature: 48.5,
  temperature: 50,
  operation_list: ["off", "eco", "heat_pump"],
  operation_mode: "heat_pump",
  away_mode: "on",
  supported_features: 15,
};

test("a water heater shows its temperatures and modes", () => {
  const of = view(entity("water_heater", "heat_pump", BOILER));

  assert.equal(of.kind, "water-heater");
  assert.deepEqual(of.capabilities, {
    on: SWITCH,
    temperature: CELSIUS,
    targetTemperature: { type: "number", min: 35, max: 65, step: 0.5, unit: "°C" },
    mode: choice("off", "eco", "heat-pump"),
    away: SWITCH,
  });
  assert.deepEqual(of.state, {
    on: true,
    temperature: 48.5,
    targetTemperature: 50,
    mode: "heat-pump",
    away: true,
  });
});

for (const [state, on, mode] of [
  ["off", false, "off"],
  ["eco", true, "eco"],
  ["unknown", null, null],
] as const) {
  test(`a water heater that is ${state} is ${JSON.stringify({ on, mode })}`, () => {
    const of = view(entity("water_heater", state, { ...BOILER, operation_mode: undefined }));
    assert.deepEqual([of.state["on"], of.state["mode"]], [on, mode]);
  });
}

test("the programme of a water heater is that of its attribute, and it may be at home", () => {
  const of = view(entity("water_heater", "on", { ...BOILER, away_mode: "off" }));

  assert.deepEqual([of.state["mode"], of.state["away"]], ["heat-pump", false]);
  assert.equal(
    view(entity("water_heater", "on", { ...BOILER, away_mode: "?" })).state["away"],
    null,
  );
});

for (const [command, call] of [
  [{ on: true }, ["water_heater.turn_on"]],
  [{ on: false }, ["water_heater.turn_off"]],
  [{ away: false }, ["water_heater.set_away_mode", { away_mode: false }]],
  [{ mode: "heat-pump" }, ["water_heater.set_operation_mode", { operation_mode: "heat_pump" }]],
  [{ targetTemperature: 55.5 }, ["water_heater.set_temperature", { temperature: 55.5 }]],
] as const) {
  test(`the command ${JSON.stringify(command)} to a water heater calls ${call[0]}`, () => {
    assert.deepEqual(calls(entity("water_heater", "eco", BOILER), command), [call]);
  });
}

test("a water heater in a home in degrees Fahrenheit is in degrees Celsius", () => {
  const of = entity("water_heater", "eco", {
    supported_features: 1,
    min_temp: 110,
    max_temp: 140,
    temperature: 122,
  });

  const { capabilities: found, state } = view(of, "°F");
  assert.deepEqual(found["targetTemperature"], {
    type: "number",
    min: 43.33,
    max: 60,
    step: 0.5,
    unit: "°C",
  });
  assert.equal(state["targetTemperature"], 50);
  assert.deepEqual(calls(of, { targetTemperature: 55 }, "°F"), [
    ["water_heater.set_temperature", { temperature: 131 }],
  ]);
});

test("a water heater with features and without their attributes has what is left", () => {
  assert.deepEqual(capabilities("water_heater", { supported_features: 15 }), {
    on: SWITCH,
    targetTemperature: { type: "number", step: 0.5, unit: "°C" },
    away: SWITCH,
  });
  assert.deepEqual(capabilities("water_heater"), {});
});
