import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutIn } from "./definitions.ts";

function numeric(unit: unknown) {
  const expose = { type: "numeric", name: "x", property: "x", access: 3, unit };
  const [feature] = layoutIn([expose]).features;
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
  ["bar", "hPa", 1_000],
  ["VAr", "var", 1],
  ["cm", "mm", 10],
  ["m/s", "km/h", 3.6],
  ["Seconds", "s", 1],
] as const) {
  test(`1500 ${theirs} are ${1_500 * factor} ${unit}, and are set as 1500 ${theirs}`, () => {
    const feature = numeric(theirs);

    assert.deepEqual(feature.capability, { type: "number", unit });
    assert.equal(feature.read(1_500), 1_500 * factor);
    assert.equal(feature.write?.(1_500 * factor), 1_500);
  });
}

for (const unknown of ["lqi", "times", "portion", "raw unit", "", undefined, null, 7]) {
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

test("degrees Fahrenheit become degrees Celsius, with their range and step", () => {
  const expose = { type: "numeric", name: "x", property: "x", access: 3, unit: "°F" };
  const range = { value_min: 41, value_max: 95, value_step: 0.9 };
  const [feature] = layoutIn([{ ...expose, ...range }]).features;

  assert.deepEqual(feature?.capability, { type: "number", min: 5, max: 35, step: 0.5, unit: "°C" });
  assert.equal(feature.read(68), 20);
  assert.equal(feature.write?.(20), 68);
});

for (const [name, theirs, unit, told, value] of [
  ["water_consumed", "L", "m³", 1_500, 1.5],
  ["target_distance", "mm", "m", 250, 0.25],
  ["co", "ppb", "ppm", 900, 0.9],
] as const) {
  test(`${told} ${theirs} of ${name} are ${value} ${unit}`, () => {
    const expose = { type: "numeric", name, property: name, access: 1, unit: theirs };
    const [feature] = layoutIn([expose]).features;

    assert.deepEqual(feature?.capability, { type: "number", unit, readOnly: true });
    assert.equal(feature.read(told), value);
    assert.equal(feature.read("much"), null);
  });
}
