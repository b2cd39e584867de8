import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, view } from "./entity.ts";

const CELSIUS = { type: "number", unit: "°C", readOnly: true } as const;
const ACTION = {
  type: "choice",
  values: ["off", "idle", "heating", "cooling", "drying", "fan", "preheating", "defrosting"],
  readOnly: true,
} as const;
const choice = (...values: string[]) => ({ type: "choice", values });
const TARGET = { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" };
const [ONE, RANGE, HUMIDITY, FAN, PRESET, SWING, SWING_HORIZONTAL] = [1, 2, 4, 8, 16, 32, 512];
const BOUNDS = { min_temp: 5, max_temp: 30, target_temp_step: 0.5 };

for (const [supported_features, more] of [
  [0, {}],
  [ONE, { targetTemperature: TARGET }],
  [RANGE, { targetTemperatureLow: TARGET, targetTemperatureHigh: TARGET }],
  [FAN, { fanMode: choice("low") }],
  [PRESET, { preset: choice("eco") }],
  [SWING, { swing: choice("off", "on") }],
  [HUMIDITY, { targetHumidity: { type: "number", min: 20, max: 70, step: 1, unit: "%" } }],
] as const) {
  test(`a thermostat with the features ${supported_features} has ${JSON.stringify(Object.keys(more))}`, () => {
    const attributes = {
      ...BOUNDS,
      supported_features,
      hvac_modes: ["off", "heat"],
      fan_modes: ["low"],
      preset_modes: ["eco"],
      swing_modes: ["off", "on"],
      min_humidity: 20,
      max_humidity: 70,
    };
    assert.deepEqual(capabilities("climate", attributes), {
      temperature: CELSIUS,
      mode: choice("off", "heat"),
      action: ACTION,
      ...more,
    });
  });
}

for (const [modes, kind] of [
  [["off", "heat", "cool", "fan_only"], "thermostat"],
  [["off", "cool", "dry", "fan_only"], "air-conditioner"],
  [["off", "heat", "dry"], "thermostat"],
  [undefined, "thermostat"],
] as const) {
  test(`a climate entity with the modes ${modes?.join()} is a ${kind}`, () => {
    const { kind: found } = view(entity("climate", "off", { hvac_modes: modes }));

    assert.equal(found, kind);
  });
}

test("a thermostat shows its measures, targets and modes", () => {
  const of = entity("climate", "heat", {
    ...BOUNDS,
    supported_features: 63,
    hvac_modes: ["heat"],
    current_humidity: 40,
    humidity: 45,
    swing_modes: ["on"],
    swing_mode: "on",
    current_temperature: 19,
    temperature: 21,
    target_temp_low: 18,
    target_temp_high: 24,
    preset_modes: ["eco"],
    preset_mode: "eco",
    fan_modes: ["low"],
    fan_mode: "low",
    hvac_action: "heating",
  });

  assert.deepEqual(view(of).capabilities["humidity"], {
    type: "number",
    unit: "%",
    readOnly: true,
  });
  assert.deepEqual(view(of).state, {
    temperature: 19,
    targetTemperature: 21,
    mode: "heat",
    humidity: 40,
    targetTemperatureLow: 18,
    targetTemperatureHigh: 24,
    preset: "eco",
    fanMode: "low",
    action: "heating",
    swing: "on",
    targetHumidity: 45,
  });
});

test("modes have the names of the vocabulary, and an unknown action is unknown", () => {
  const of = entity("climate", "heat_cool", {
    hvac_modes: ["off", "heat_cool", "fan_only", "turbo"],
    hvac_action: "boiling",
  });

  assert.deepEqual(view(of).capabilities["mode"], choice("off", "heat-cool", "fan-only", "turbo"));
  assert.deepEqual(view(of).state, { temperature: null, mode: "heat-cool", action: null });
  const fan = entity("climate", "fan_only", { hvac_modes: ["fan_only"], hvac_action: "fan" });
  assert.deepEqual(view(fan).state, { temperature: null, mode: "fan-only", action: "fan" });
});

test("a horizontal swing is an extra", () => {
  const of = entity("climate", "cool", {
    supported_features: SWING_HORIZONTAL,
    hvac_modes: ["cool"],
    swing_horizontal_modes: ["off", "on"],
    swing_horizontal_mode: "off",
  });

  assert.deepEqual(view(of).extra, {
    capabilities: { swingHorizontal: { ...choice("off", "on"), group: "main" } },
    state: { swingHorizontal: "off" },
  });
});

test("a range whose low end is above its high end is shown as it is", () => {
  const of = entity("climate", "heat_cool", {
    supported_features: RANGE,
    target_temp_low: 25,
    target_temp_high: 18,
  });

  const { targetTemperatureLow: low, targetTemperatureHigh: high } = view(of).state;
  assert.deepEqual([low, high], [25, 18]);
  assert.deepEqual(calls(of, { targetTemperatureLow: 17 }), [
    ["climate.set_temperature", { target_temp_low: 17, target_temp_high: 18 }],
  ]);
});

test("features without the attributes that they need make no capabilities", () => {
  const of = view(entity("climate", "heat", { supported_features: 1_023 }));

  assert.deepEqual(Object.keys(of.capabilities).toSorted(), [
    ...["action", "targetHumidity", "targetTemperature"],
    ...["targetTemperatureHigh", "targetTemperatureLow", "temperature"],
  ]);
  assert.deepEqual(of.capabilities["targetHumidity"], {
    type: "number",
    min: 0,
    max: 100,
    step: 1,
    unit: "%",
  });
  assert.equal(of.extra, undefined);
});

test("a value that a thermostat does not report is unknown", () => {
  const { state } = view(
    entity("climate", "unknown", { hvac_modes: ["heat"], supported_features: ONE }),
  );

  assert.deepEqual(state, { temperature: null, targetTemperature: null, mode: null, action: null });
});

test("temperatures of a home in degrees Fahrenheit are in degrees Celsius", () => {
  const of = entity("climate", "heat", {
    supported_features: ONE,
    min_temp: 50,
    max_temp: 86,
    target_temp_step: 1,
    current_temperature: 68,
    temperature: 70,
  });
  const { capabilities: found, state } = view(of, "°F");

  assert.deepEqual(found["targetTemperature"], { ...TARGET, min: 10, max: 30 });
  assert.deepEqual([state["temperature"], state["targetTemperature"]], [20, 21.11]);
  assert.deepEqual(calls(of, { targetTemperature: 21.1 }, "°F"), [
    ["climate.set_temperature", { temperature: 70 }],
  ]);
});

for (const [attributes, target] of [
  [{}, { type: "number", step: 0.5, unit: "°C" }],
  [{ min_temp: 5 }, { type: "number", step: 0.5, unit: "°C" }],
  [{ max_temp: 5 }, { type: "number", step: 0.5, unit: "°C" }],
  [
    { min_temp: 5, max_temp: 5 },
    { type: "number", step: 0.5, unit: "°C" },
  ],
  [
    { min_temp: 30, max_temp: 5 },
    { type: "number", step: 0.5, unit: "°C" },
  ],
  [
    { min_temp: -273, max_temp: 9_000 },
    { type: "number", min: -50, max: 150, step: 0.5, unit: "°C" },
  ],
  [
    { min_temp: 200, max_temp: 300 },
    { type: "number", step: 0.5, unit: "°C" },
  ],
  [{ target_temp_step: 0 }, { type: "number", unit: "°C" }],
  [{ target_temp_step: 1 }, { type: "number", step: 1, unit: "°C" }],
] as const) {
  test(`a target temperature with ${JSON.stringify(attributes)} is ${JSON.stringify(target)}`, () => {
    const found = capabilities("climate", { supported_features: ONE, ...attributes });
    assert.deepEqual(found["targetTemperature"], target);
  });
}

const both = entity("climate", "heat", {
  supported_features: 3,
  temperature: 20,
  target_temp_low: 18,
  target_temp_high: 24,
});

for (const [command, made] of [
  [{ mode: "off" }, [["climate.set_hvac_mode", { hvac_mode: "off" }]]],
  [{ mode: "heat-cool" }, [["climate.set_hvac_mode", { hvac_mode: "heat_cool" }]]],
  [{ mode: "fan-only" }, [["climate.set_hvac_mode", { hvac_mode: "fan_only" }]]],
  [{ swing: "on" }, [["climate.set_swing_mode", { swing_mode: "on" }]]],
  [
    { swingHorizontal: "on" },
    [["climate.set_swing_horizontal_mode", { swing_horizontal_mode: "on" }]],
  ],
  [{ targetHumidity: 45.4 }, [["climate.set_humidity", { humidity: 45 }]]],
  [{ preset: "eco" }, [["climate.set_preset_mode", { preset_mode: "eco" }]]],
  [{ fanMode: "low" }, [["climate.set_fan_mode", { fan_mode: "low" }]]],
  [{ targetTemperature: 21 }, [["climate.set_temperature", { temperature: 21 }]]],
  [
    { targetTemperatureLow: 17 },
    [["climate.set_temperature", { target_temp_low: 17, target_temp_high: 24 }]],
  ],
  [
    { targetTemperature: 19, targetTemperatureHigh: 25 },
    [["climate.set_temperature", { target_temp_low: 18, target_temp_high: 25, temperature: 19 }]],
  ],
  [
    { targetTemperatureHigh: 25 },
    [["climate.set_temperature", { target_temp_low: 18, target_temp_high: 25 }]],
  ],
] as const) {
  test(`the command ${JSON.stringify(command)} calls ${JSON.stringify(made)}`, () => {
    assert.deepEqual(calls(both, command), made);
  });
}

test("the end of a range that is not known is not sent", () => {
  const of = entity("climate", "heat", { supported_features: RANGE });

  assert.deepEqual(calls(of, { targetTemperatureLow: 17 }), [
    ["climate.set_temperature", { target_temp_low: 17 }],
  ]);
});
