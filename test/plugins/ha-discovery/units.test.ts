import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

for (const [theirs, ours, unit] of [
  ["%", 1, "%"],
  ["K", 1, "K"],
  ["°C", 1, "°C"],
  ["C", 1, "°C"],
  ["lx", 1, "lx"],
  ["W", 1, "W"],
  ["mW", 0.001, "W"],
  ["kW", 1_000, "W"],
  ["kWh", 1, "kWh"],
  ["Wh", 0.001, "kWh"],
  ["MWh", 1_000, "kWh"],
  ["hPa", 1, "hPa"],
  ["mbar", 1, "hPa"],
  ["Pa", 0.01, "hPa"],
  ["kPa", 10, "hPa"],
  ["bar", 1_000, "hPa"],
  ["mmHg", 1.333224, "hPa"],
  ["inHg", 33.863887, "hPa"],
  ["°", 1, "°"],
  ["V", 1, "V"],
  ["mV", 0.001, "V"],
  ["A", 1, "A"],
  ["mA", 0.001, "A"],
  ["ppm", 1, "ppm"],
  ["µg/m³", 1, "µg/m³"],
  ["μg/m³", 1, "µg/m³"],
  ["s", 1, "s"],
  ["ms", 0.001, "s"],
  ["min", 1, "min"],
  ["h", 60, "min"],
  ["dBm", 1, "dBm"],
] as const) {
  test(`a reading of 1 ${theirs} is ${ours} ${unit}, and is set as 1 ${theirs}`, () => {
    const config = { state_topic: "s", unit_of_measurement: theirs };
    const sensor = component("sensor", config);
    const number = component("number", { ...config, command_topic: "set", min: 0, max: 10 });

    assert.deepEqual(sensor.capabilities["value"], { type: "number", unit, readOnly: true });
    assert.equal(sensor.tell("s", "1")["value"], ours);
    assert.deepEqual(number.ask({ value: ours }), ["set 1"]);
  });
}

for (const unit of ["°F", "F"]) {
  test(`degrees Fahrenheit, as ${unit}, are degrees Celsius`, () => {
    const config = { state_topic: "s", unit_of_measurement: unit };
    const number = component("number", { ...config, command_topic: "set", min: 32, max: 212 });

    assert.deepEqual(number.capabilities["value"], {
      type: "number",
      min: 0,
      max: 100,
      step: 1,
      unit: "°C",
    });
    assert.equal(number.tell("s", "70")["value"], 21.11);
    assert.deepEqual(number.ask({ value: 21.11 }), ["set 70"]);
  });
}

for (const unit of ["lqi", "toString", ""]) {
  test(`a number in the unit "${unit}" keeps its value and has no unit`, () => {
    const config = { state_topic: "s", unit_of_measurement: unit };
    const number = component("number", { ...config, command_topic: "set", min: -5 });

    assert.deepEqual(number.capabilities["value"], { type: "number", min: -5, max: 100, step: 1 });
    assert.equal(number.tell("s", "7.25")["value"], 7.25);
    assert.deepEqual(number.ask({ value: 7.25 }), ["set 7.25"]);
  });
}

test("a step of zero or less is left out", () => {
  for (const step of [0, -1]) {
    const { capabilities } = component("number", { command_topic: "set", step });
    assert.deepEqual(capabilities["value"], { type: "number", min: 1, max: 100 });
  }
});

test("a component whose least value is above its greatest is refused with the name of the field", () => {
  assert.throws(() => component("number", { command_topic: "set", min: 9, max: 1 }), {
    message: "the lowest value is above the highest",
  });
  const fixed = component("number", { command_topic: "set", min: 9, max: 9 });
  assert.deepEqual(fixed.names, ["value"]);
});
