import assert from "node:assert/strict";
import { test } from "node:test";
import { entity, view } from "./entity.ts";

const number = (unit?: string) => ({
  ...{ type: "number", readOnly: true },
  ...(unit === undefined ? {} : { unit }),
});
const TEXT = { type: "text", readOnly: true };

/** The device of a sensor that shows a state. */
function sensor(state: string, attributes: object) {
  const { kind, ...rest } = view(entity("sensor", state, { ...attributes }));
  assert.equal(kind, "sensor");
  return rest;
}

for (const [device_class, unit_of_measurement, field, unit, value] of [
  ["humidity", "%", "humidity", "%", 2],
  ["moisture", "%", "moisture", "%", 2],
  ["battery", "%", "battery", "%", 2],
  ["illuminance", "lx", "illuminance", "lx", 2],
  ["pressure", "hPa", "pressure", "hPa", 2],
  ["pressure", "mbar", "pressure", "hPa", 2],
  ["pressure", "cbar", "pressure", "hPa", 20],
  ["pressure", "bar", "pressure", "hPa", 2_000],
  ["pressure", "Pa", "pressure", "hPa", 0.02],
  ["pressure", "kPa", "pressure", "hPa", 20],
  ["pressure", "psi", "pressure", "hPa", 137.8951],
  ["pressure", "inHg", "pressure", "hPa", 67.7278],
  ["pressure", "mmHg", "pressure", "hPa", 2.6664],
  ["atmospheric_pressure", "kPa", "pressure", "hPa", 20],
  ["power", "mW", "power", "W", 0.002],
  ["power", "W", "power", "W", 2],
  ["power", "kW", "power", "W", 2_000],
  ["power", "MW", "power", "W", 2e6],
  ["energy", "Wh", "energy", "kWh", 0.002],
  ["energy", "kWh", "energy", "kWh", 2],
  ["energy", "MWh", "energy", "kWh", 2_000],
  ["energy", "MJ", "energy", "kWh", 0.5556],
  ["voltage", "mV", "voltage", "V", 0.002],
  ["voltage", "V", "voltage", "V", 2],
  ["voltage", "kV", "voltage", "V", 2_000],
  ["current", "mA", "current", "A", 0.002],
  ["current", "A", "current", "A", 2],
  ["carbon_dioxide", "ppm", "co2", "ppm", 2],
  ["pm25", "µg/m³", "pm25", "µg/m³", 2],
  ["pm25", "μg/m³", "pm25", "µg/m³", 2],
  ["pm10", "µg/m³", "pm10", "µg/m³", 2],
  ["pm10", "μg/m³", "pm10", "µg/m³", 2],
  ["signal_strength", "dBm", "signal", "dBm", 2],
  ["duration", "ms", "duration", "s", 0.002],
  ["duration", "s", "duration", "s", 2],
  ["duration", "min", "duration", "s", 120],
  ["duration", "h", "duration", "s", 7_200],
  ["duration", "d", "duration", "s", 172_800],
  ["temperature", "°C", "temperature", "°C", 2],
  ["temperature", "K", "temperature", "°C", -271.15],
  ["temperature", "°F", "temperature", "°C", -16.67],
] as const) {
  test(`2 ${unit_of_measurement} of the class ${device_class} are ${field} ${value} ${unit}`, () => {
    assert.deepEqual(sensor("2", { device_class, unit_of_measurement }), {
      capabilities: { [field]: number(unit) },
      state: { [field]: value },
    });
  });
}

test("2 µV are less than four decimals of a volt can show", () => {
  const voltage = sensor("250", { device_class: "voltage", unit_of_measurement: "µV" });
  assert.deepEqual(voltage.state, { voltage: 0.0003 });
});

for (const state of ["unknown", "unavailable", "", "off"]) {
  test(`a measure is unknown when its state is "${state}"`, () => {
    const power = { device_class: "power", unit_of_measurement: "W" };
    assert.deepEqual(sensor(state, power).state, { power: null });
    assert.deepEqual(sensor(state, { device_class: "temperature" }).state, { temperature: null });
    assert.deepEqual(sensor(state, { state_class: "measurement" }).state, { value: null });
  });
}

for (const [unit, known] of [
  ["%", true],
  ["K", true],
  ["°C", true],
  ["lx", true],
  ["W", true],
  ["kWh", true],
  ["hPa", true],
  ["°", true],
  ["V", true],
  ["A", true],
  ["ppm", true],
  ["µg/m³", true],
  ["s", true],
  ["min", true],
  ["dBm", true],
  ["km/h", false],
] as const) {
  test(`a number in ${unit} without a known class keeps it as ${known ? "its unit" : "a text"}`, () => {
    const { capabilities, state } = sensor("2", { unit_of_measurement: unit });

    assert.deepEqual(
      capabilities,
      known ? { value: number(unit) } : { value: number(), unit: TEXT },
    );
    assert.deepEqual(state, known ? { value: 2 } : { value: 2, unit });
  });
}

test("a measure in a unit that is not its own is a plain number", () => {
  const { capabilities, state } = sensor("2", { device_class: "power", unit_of_measurement: "lx" });

  assert.deepEqual([capabilities, state], [{ value: number("lx") }, { value: 2 }]);
  const inherited = { device_class: "power", unit_of_measurement: "toString" };
  assert.deepEqual(sensor("2", inherited).state, { value: 2, unit: "toString" });
});

for (const mark of ["unit_of_measurement", "state_class", "suggested_display_precision"]) {
  test(`a sensor with ${mark} is a number`, () => {
    assert.equal(sensor("2", { [mark]: "%" }).capabilities["value"]?.type, "number");
  });
}

test("a sensor without a mark of a number is a text, also when it looks like one", () => {
  assert.deepEqual(sensor("2", {}), { capabilities: { value: TEXT }, state: { value: "2" } });
  assert.deepEqual(sensor("unknown", {}).state, { value: null });
});

test("an enumeration is a choice of its options, and without options a text", () => {
  const options = { device_class: "enum", options: ["a", "b"] };
  const choice = { type: "choice", values: ["a", "b"], readOnly: true };

  assert.deepEqual(sensor("a", options), {
    capabilities: { value: choice },
    state: { value: "a" },
  });
  assert.deepEqual(sensor("unknown", options).state, { value: null });
  assert.deepEqual(sensor("a", { device_class: "enum" }).capabilities, { value: TEXT });
});

for (const [device_class, field, on] of [
  ["door", "contact", false],
  ["window", "contact", false],
  ["garage_door", "contact", false],
  ["opening", "contact", false],
  ["motion", "motion", true],
  ["battery", "batteryLow", true],
  ["carbon_monoxide", "carbonMonoxide", true],
  ["x".repeat(40), "x".repeat(40), true],
  ["x".repeat(41), "active", true],
  ["Door", "active", true],
  ["a__b", "active", true],
  ["a_", "active", true],
  ["2a", "active", true],
  [undefined, "active", true],
] as const) {
  test(`on of a binary sensor of the class ${device_class} is ${field}: ${on}`, () => {
    const of = (state: string) => view(entity("binary_sensor", state, { device_class }));

    assert.deepEqual(of("on").capabilities, { [field]: { type: "boolean", readOnly: true } });
    assert.deepEqual(of("on").state, { [field]: on });
    assert.deepEqual(of("off").state, { [field]: !on });
    assert.deepEqual(of("unknown").state, { [field]: null });
  });
}
