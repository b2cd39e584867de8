import assert from "node:assert/strict";
import { test } from "node:test";
import { featuresOf } from "../../../plugins/zigbee2mqtt/convert.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";

const value = (name: string, more: object = {}) => ({
  ...{ type: "numeric", name, property: name, access: 3 },
  ...more,
});

/** The names of the capabilities of exposed values, inside a group of a type if one is given. */
function namesOf(exposed: readonly object[], type?: string): string[] {
  const exposes = type === undefined ? exposed : [{ type, features: exposed }];
  return featuresOf(parseExposes(exposes)).map(({ name }) => name);
}

for (const [type, theirs, ours] of [
  ["light", "state", "on"],
  ["light", "color_temp", "colorTemperature"],
  ["light", "color_xy", "color"],
  ["light", "color_hs", "color"],
  ["switch", "state", "on"],
  ["fan", "state", "on"],
  ["lock", "state", "locked"],
  ["climate", "local_temperature", "temperature"],
  ["climate", "occupied_heating_setpoint", "targetTemperature"],
  ["climate", "current_heating_setpoint", "targetTemperature"],
  ["climate", "system_mode", "mode"],
  [undefined, "occupancy", "motion"],
  [undefined, "action", "lastAction"],
  ["cover", "state", "state"],
  [undefined, "state", "state"],
  ["climate", "occupancy", "occupancy"],
] as const) {
  test(`${theirs} of ${type ?? "a device"} is called ${ours}`, () => {
    assert.deepEqual(namesOf([value(theirs)], type), [ours]);
  });
}

for (const [property, name] of [
  ["Child-lock_mode", "childLockMode"],
  ["2nd_value", "v2ndValue"],
  ["äöü", "v"],
  ["on", "onValue"],
  ["color", "colorValue"],
  ["locked", "lockedValue"],
  ["x".repeat(70), "x".repeat(64)],
] as const) {
  test(`a value that Mantel has no name for keeps its own: ${property} is ${name}`, () => {
    assert.deepEqual(namesOf([value(property)]), [name]);
  });
}

test("the values of a composite have its name before theirs, and no name of Mantel's", () => {
  const composite = { type: "composite", name: "led", property: "led", access: 3 };
  const features = [value("occupancy"), { ...composite, features: [value("level")] }];

  assert.deepEqual(namesOf([{ ...composite, features }]), ["ledOccupancy", "ledLedLevel"]);
});

test("values with the same name are numbered from the second on", () => {
  const long = "x".repeat(64);

  assert.deepEqual(namesOf([value("a"), value("a"), value("a"), value(long), value(long)]), [
    ...["a", "a2", "a3"],
    ...[long, `${"x".repeat(60)}2`],
  ]);
});
