import assert from "node:assert/strict";
import { test } from "node:test";
import { featuresOf } from "../../../plugins/zigbee2mqtt/convert.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";

function numeric(unit: unknown) {
  const expose = { type: "numeric", name: "x", property: "x", access: 3, unit };
  const [feature] = featuresOf(parseExposes([expose]));
  assert.ok(feature);
  return feature;
}

for (const [theirs, unit, factor] of [
  ["%", "%", 1],
  ["K", "K", 1],
  ["°C", "°C", 1],
  ["C", "°C", 1],
  ["lx", "lx", 1],
  ["W", "W", 1],
  ["kW", "W", 1_000],
  ["kWh", "kWh", 1],
  ["Wh", "kWh", 0.001],
  ["hPa", "hPa", 1],
  ["kPa", "hPa", 10],
  ["°", "°", 1],
  ["V", "V", 1],
  ["mV", "V", 0.001],
  ["A", "A", 1],
  ["mA", "A", 0.001],
  ["ppm", "ppm", 1],
  ["µg/m³", "µg/m³", 1],
  ["mg/m³", "µg/m³", 1_000],
  ["s", "s", 1],
  ["sec", "s", 1],
  ["seconds", "s", 1],
  ["ms", "s", 0.001],
  ["min", "min", 1],
  ["minutes", "min", 1],
  ["h", "min", 60],
  ["hr", "min", 60],
  ["hours", "min", 60],
  ["dBm", "dBm", 1],
  ["LX", "lx", 1],
  ["Minutes", "min", 1],
] as const) {
  test(`1500 ${theirs} are ${1_500 * factor} ${unit}, and are set as 1500 ${theirs}`, () => {
    const feature = numeric(theirs);

    assert.deepEqual(feature.capability, { type: "number", unit });
    assert.equal(feature.read(1_500), 1_500 * factor);
    assert.equal(feature.write?.(1_500 * factor), 1_500);
  });
}

for (const unknown of ["lqi", "", undefined, null, 7]) {
  test(`a number with the unit ${unknown} keeps its value and has no unit`, () => {
    const feature = numeric(unknown);

    assert.deepEqual(feature.capability, { type: "number" });
    assert.equal(feature.read(1_500), 1_500);
    assert.equal(feature.write?.(0.1 + 0.2), 0.1 + 0.2);
  });
}

test("converted values are free of the rounding errors of binary fractions", () => {
  assert.equal(numeric("mV").read(3_015), 3.015);
  assert.equal(numeric("mg/m³").write?.(1_234_567), 1_234.567);
});
