import assert from "node:assert/strict";
import { test } from "node:test";
import { entity, view } from "./entity.ts";

const number = (unit?: string) => ({
  type: "number",
  readOnly: true,
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
  ["apparent_power", "kVA", "apparentPower", "VA", 2_000],
  ["aqi", undefined, "airQualityIndex", undefined, 2],
  ["carbon_monoxide", "ppm", "co", "ppm", 2],
  ["conductivity", "mS/cm", "conductivity", "µS/cm", 2_000],
  ["distance", "km", "distance", "m", 2_000],
  ["distance", "cm", "distance", "m", 0.02],
  ["frequency", "kHz", "frequency", "Hz", 2_000],
  ["gas", "m³", "gasVolume", "m³", 2],
  ["irradiance", "W/m²", "solarIrradiance", "W/m²", 2],
  ["nitrogen_dioxide", "µg/m³", "no2", "µg/m³", 2],
  ["ozone", "µg/m³", "ozone", "µg/m³", 2],
  ["ph", undefined, "acidity", undefined, 2],
  ["pm1", "µg/m³", "pm1", "µg/m³", 2],
  ["pm4", "µg/m³", "pm4", "µg/m³", 2],
  ["power_factor", "%", "powerFactor", "%", 2],
  ["power_factor", undefined, "powerFactor", "%", 200],
  ["precipitation", "in", "rain", "mm", 50.8],
  ["precipitation_intensity", "mm/h", "rainRate", "mm/h", 2],
  ["reactive_power", "var", "reactivePower", "var", 2],
  ["sound_pressure", "dBA", "noise", "dB", 2],
  ["sulphur_dioxide", "µg/m³", "so2", "µg/m³", 2],
  ["volatile_organic_compounds", "mg/m³", "voc", "µg/m³", 2_000],
  ["volatile_organic_compounds_parts", "ppm", "vocParts", "ppb", 2_000],
  ["carbon_monoxide", "ppb", "co", "ppm", 0.002],
  ["volume_flow_rate", "L/min", "flow", "m³/h", 0.12],
  ["water", "L", "water", "m³", 0.002],
  ["weight", "g", "weight", "kg", 0.002],
  ["wind_direction", "°", "windDirection", "°", 2],
  ["wind_speed", "m/s", "windSpeed", "km/h", 7.2],
  ["wind_speed", "Beaufort", "windSpeed", "km/h", 8.5],
  ["temperature", undefined, "temperature", "°C", 2],
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

for (const [theirs, unit, value] of [
  ["%", "%", 2],
  ["K", "K", 2],
  ["°C", "°C", 2],
  ["°F", "°C", -16.67],
  ["lux", "lx", 2],
  ["kW", "W", 2_000],
  ["h", "min", 120],
  ["ms", "s", 0.002],
  ["km/h", "km/h", 2],
  ["mph", "km/h", 3.2187],
  ["dBm", "dBm", 2],
] as const) {
  test(`2 ${theirs} without a known class are the value ${value} ${unit}`, () => {
    assert.deepEqual(sensor("2", { unit_of_measurement: theirs }), {
      capabilities: { value: number(unit) },
      state: { value },
    });
    const duration = { device_class: "duration", unit_of_measurement: theirs };
    assert.deepEqual(sensor("2", duration).state, { value });
  });
}

for (const [unit, device_class] of [
  ["EUR", "monetary"],
  ["toString", "power"],
  ["steps", undefined],
] as const) {
  test(`the unknown unit ${unit} is an extra beside the value`, () => {
    assert.deepEqual(sensor("2", { unit_of_measurement: unit, device_class }), {
      capabilities: { value: number() },
      state: { value: 2 },
      extra: { capabilities: { unit: { ...TEXT, group: "main" } }, state: { unit } },
    });
  });
}

test("a measure in a unit that is not its own is a plain number", () => {
  const { capabilities, state } = sensor("2", { device_class: "power", unit_of_measurement: "lx" });

  assert.deepEqual([capabilities, state], [{ value: number("lx") }, { value: 2 }]);
});

test("a wind force is not a pressure, and an index may have a unit of its own", () => {
  const force = { device_class: "pressure", unit_of_measurement: "Beaufort" };
  assert.deepEqual(sensor("2", force).state, { value: 2 });
  const index = { device_class: "aqi", unit_of_measurement: "CAQI" };
  assert.deepEqual(sensor("2", index).state, { airQualityIndex: 2 });
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
