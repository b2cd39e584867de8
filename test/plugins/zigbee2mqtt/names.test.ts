import assert from "node:assert/strict";
import { test } from "node:test";
import { placesIn } from "./definitions.ts";

const value = (name: string, more: object = {}) => ({
  type: "numeric",
  name,
  property: name,
  access: 3,
  ...more,
});
const measured = (name: string, more: object = {}) => value(name, { access: 1, ...more });
const detected = (name: string) => measured(name, { type: "binary" });
const chosen = (name: string, ...values: string[]) => value(name, { type: "enum", values });
const switched = (name = "state") =>
  value(name, { type: "binary", value_on: "ON", value_off: "OFF" });
const degrees = { unit: "°C" };

for (const [type, exposed, ours] of [
  ["light", switched(), "on"],
  ["light", value("brightness"), "brightness"],
  ["light", value("color_temp"), "colorTemperature"],
  ["light", value("color_xy", { type: "composite" }), "color"],
  ["light", value("color_hs", { type: "composite" }), "color"],
  ["switch", switched(), "on"],
  ["fan", switched(), "on"],
  ["lock", switched(), "locked"],
  ["climate", measured("local_temperature", degrees), "temperature"],
  ["climate", value("occupied_heating_setpoint", degrees), "targetTemperature"],
  ["climate", value("occupied_cooling_setpoint", degrees), "targetTemperature"],
  ["climate", value("current_heating_setpoint", degrees), "targetTemperature"],
  ["climate", chosen("system_mode", "off", "heat"), "mode"],
  ["climate", measured("running_state", { type: "enum", values: ["idle", "heat"] }), "action"],
  ["climate", chosen("fan_mode", "low", "high"), "fanMode"],
  ["climate", chosen("swing_mode", "on", "off"), "swing"],
  ["climate", chosen("preset", "away", "eco"), "preset"],
  ["cover", value("position"), "position"],
  ["cover", value("tilt"), "tilt"],
  ["climate", value("occupancy"), "extra/occupancyValue"],
  ["climate", value("unoccupied_heating_setpoint", degrees), "extra/unoccupiedHeatingSetpoint"],
] as const) {
  test(`${exposed.name} of ${type} is called ${ours}`, () => {
    assert.deepEqual(placesIn([{ type, features: [exposed] }]), [ours]);
  });
}

for (const [exposed, ours] of [
  [detected("occupancy"), "motion"],
  [detected("presence"), "presence"],
  [detected("water_leak"), "waterLeak"],
  [detected("window_open"), "windowOpen"],
  [detected("battery_low"), "batteryLow"],
  [measured("action", { type: "enum", values: ["single"] }), "lastAction"],
  [measured("temperature", degrees), "temperature"],
  [measured("temperature", { unit: "°F" }), "temperature"],
  [measured("pressure", { unit: "kPa" }), "pressure"],
  [measured("voltage", { unit: "V" }), "voltage"],
  [measured("voltage", { unit: "mV", category: "diagnostic" }), "batteryVoltage"],
  [measured("voc", { unit: "µg/m³" }), "voc"],
  [measured("voc", { unit: "ppb" }), "vocParts"],
  [measured("gas", { unit: "m³" }), "gasVolume"],
  [detected("gas"), "gas"],
  [measured("water_consumed", { unit: "L" }), "water"],
  [measured("target_distance", { unit: "mm" }), "distance"],
  [measured("produced_energy", { unit: "kWh" }), "energyReturned"],
  [measured("temperature", { unit: "raw unit" }), "extra/temperatureValue"],
  [measured("temperature"), "extra/temperatureValue"],
  [value("temperature", degrees), "extra/temperatureValue"],
  [measured("power_factor"), "extra/powerFactorValue"],
  [switched(), "on"],
] as const) {
  const { name, unit = "" } = exposed as { name: string; unit?: string };
  test(`${name} ${unit} of a device that can${exposed.access === 3 ? "" : "not"} be set is called ${ours}`, () => {
    assert.deepEqual(placesIn([exposed]), [ours]);
  });
}

for (const [property, name] of [
  ["Child-lock_mode", "childLockMode"],
  ["2nd_value", "v2ndValue"],
  ["äöü", "v"],
  ["on", "on"],
  ["x".repeat(70), "x".repeat(64)],
] as const) {
  test(`a value that is not in the vocabulary keeps its name among the extras: ${property} is ${name}`, () => {
    assert.deepEqual(placesIn([value(property)]), [`extra/${name}`]);
  });
}

test("an extra does not have a name that the vocabulary has for its device", () => {
  const climate = { type: "climate", features: [chosen("system_mode", "off", "heat")] };

  assert.deepEqual(placesIn([climate, chosen("mode", "comfort", "eco")]), [
    "mode",
    "extra/modeValue",
  ]);
});

test("the values of a composite have its name before theirs", () => {
  const composite = { type: "composite", name: "led", property: "led", access: 3 };
  const features = [value("occupancy"), { ...composite, features: [value("level")] }];

  assert.deepEqual(placesIn([{ ...composite, features }]), [
    "extra/ledOccupancy",
    "extra/ledLedLevel",
  ]);
});

test("extras with the same name are numbered from the second on, and a repeated one counts once", () => {
  const long = "x".repeat(64);
  const names = ["a_b", "a-b", "a b", "a_b", `${long}1`, `${long}2`];

  assert.deepEqual(placesIn(names.map((name) => value(name))), [
    ...["extra/aB", "extra/aB2", "extra/aB3"],
    ...[`extra/${long}`, `extra/${"x".repeat(60)}2`],
  ]);
});
