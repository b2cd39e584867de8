import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const READ_ONLY = { readOnly: true } as const;

for (const [field, name, template, values] of [
  ["mode", "mode", "mode_state_template", ["auto", "off", "cool", "heat", "dry", "fan-only"]],
  ["fanMode", "fan_mode", "fan_mode_state_template", ["auto", "low", "medium", "high"]],
  ["swing", "swing_mode", "swing_mode_state_template", ["on", "off"]],
  [
    ...(["swingHorizontal", "swing_horizontal_mode"] as const),
    ...(["swing_horizontal_mode_state_template", ["on", "off"]] as const),
  ],
  ["preset", "preset_mode", "preset_mode_value_template", ["none"]],
] as const) {
  const config = { [`${name}_command_topic`]: "set", [`${name}_state_topic`]: "told" };

  test(`${field} has Home Assistant's values unless others are announced`, () => {
    const own = component("climate", { ...config, [`${name}s`]: ["boost", "eco"] });

    assert.deepEqual(component("climate", config).capabilities[field], { type: "choice", values });
    assert.deepEqual(own.capabilities[field], {
      type: "choice",
      values: [...(field === "preset" ? ["none"] : []), "boost", "eco"],
    });
  });

  test(`${field} is read and set through its templates`, () => {
    const thermostat = component("climate", {
      ...config,
      [`${name}s`]: ["boost", "eco"],
      [template]: "{{ value_json.now }}",
      [`${name}_command_template`]: "<{{ value }}>",
    });

    assert.equal(thermostat.tell("told", { now: "eco" })[field], "eco");
    assert.deepEqual(thermostat.ask({ [field]: "boost" }), ["set <boost>"]);
    assert.deepEqual([...(thermostat.known.handler.unreported ?? [])], []);
  });

  test(`${field} that is only reported is read-only`, () => {
    const thermostat = component("climate", { [`${name}_state_topic`]: "told" });

    assert.deepEqual(thermostat.capabilities[field], { type: "choice", values, ...READ_ONLY });
    assert.deepEqual(thermostat.ask({ [field]: values[0] }), []);
  });

  test(`${field} that is not reported is as requested`, () => {
    const thermostat = component("climate", { [`${name}_command_topic`]: "set" });

    assert.deepEqual([...(thermostat.known.handler.unreported ?? [])], [field]);
  });
}

for (const [field, name] of [
  ["targetTemperature", "temperature"],
  ["targetTemperatureHigh", "temperature_high"],
  ["targetTemperatureLow", "temperature_low"],
] as const) {
  test(`${field} is read and set through its topics and templates`, () => {
    const thermostat = component("climate", {
      [`${name}_command_topic`]: "set",
      [`${name}_command_template`]: "<{{ value }}>",
      [`${name}_state_topic`]: "told",
      [`${name}_state_template`]: "{{ value_json.now }}",
      min_temp: 5,
      max_temp: 30,
      temp_step: 0.5,
    });

    assert.deepEqual(thermostat.capabilities, {
      [field]: { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" },
    });
    assert.deepEqual(thermostat.tell("told", { now: 21.5 }), { [field]: 21.5 });
    assert.deepEqual(thermostat.ask({ [field]: 22 }), ["set <22>"]);
    assert.deepEqual([...(thermostat.known.handler.unreported ?? [])], []);
  });
}

test("target temperatures are from 7 to 35 °C by default, also in degrees Fahrenheit", () => {
  const bounds = { type: "number", min: 7, max: 35, step: 1, unit: "°C" };

  for (const temperature_unit of [undefined, "C", "F"]) {
    const thermostat = component("climate", { temperature_command_topic: "set", temperature_unit });
    assert.deepEqual(thermostat.capabilities["targetTemperature"], bounds, temperature_unit);
  }
});

test("temperatures are converted from degrees Fahrenheit both ways", () => {
  const thermostat = component("climate", {
    temperature_unit: "F",
    temperature_command_topic: "set",
    temperature_state_topic: "told",
    current_temperature_topic: "now",
  });

  assert.equal(thermostat.tell("told", "68")["targetTemperature"], 20);
  assert.equal(thermostat.tell("now", "50")["temperature"], 10);
  assert.deepEqual(thermostat.ask({ targetTemperature: 20 }), ["set 68"]);
});

test("a thermostat shows what it measures through its templates, and nobody can set it", () => {
  const thermostat = component("climate", {
    current_temperature_topic: "t",
    current_temperature_template: "{{ value_json.t }}",
    current_humidity_topic: "t",
    current_humidity_template: "{{ value_json.h }}",
    action_topic: "t",
    action_template: "{{ value_json.a }}",
  });

  assert.equal(thermostat.known.handler.leads, "thermostat");
  assert.deepEqual(thermostat.capabilities, {
    temperature: { type: "number", unit: "°C", ...READ_ONLY },
    humidity: { type: "number", unit: "%", ...READ_ONLY },
    action: {
      type: "choice",
      values: ["off", "idle", "heating", "cooling", "drying", "fan", "preheating", "defrosting"],
      ...READ_ONLY,
    },
  });
  assert.deepEqual(thermostat.tell("t", { t: 20, h: 40, a: "heating" }), {
    temperature: 20,
    humidity: 40,
    action: "heating",
  });
});

for (const [payload, action] of [
  ["preheating", "preheating"],
  ["idle", "idle"],
  ["None", null],
  ["washing", null],
] as const) {
  test(`a thermostat that reports the action ${payload} does ${action ?? "something unknown"}`, () => {
    const thermostat = component("climate", { action_topic: "a" });
    thermostat.tell("a", "cooling");

    assert.deepEqual(thermostat.tell("a", payload), { action });
  });
}

test("modes of several words have the words of the vocabulary, and are sent as the device has them", () => {
  const thermostat = component("climate", {
    mode_command_topic: "set",
    mode_state_topic: "m",
    modes: ["off", "heat_cool", "my_mode"],
  });

  assert.deepEqual(thermostat.capabilities["mode"], {
    type: "choice",
    values: ["off", "heat-cool", "my_mode"],
  });
  assert.equal(thermostat.tell("m", "heat_cool")["mode"], "heat-cool");
  assert.equal(thermostat.tell("m", "my_mode")["mode"], "my_mode");
  assert.deepEqual(
    ["heat-cool", "my_mode"].map((mode) => thermostat.ask({ mode })[0]),
    ["set heat_cool", "set my_mode"],
  );
});

test("an empty action changes nothing", () => {
  const thermostat = component("climate", { action_topic: "a" });
  thermostat.tell("a", "heating");

  assert.deepEqual(thermostat.tell("a", ""), { action: "heating" });
});

test("a target humidity is from 30 to 99 % unless announced, and as requested if not reported", () => {
  const thermostat = component("climate", { target_humidity_command_topic: "set" });
  const own = component("climate", {
    target_humidity_command_topic: "set",
    min_humidity: 40,
    max_humidity: 70,
    target_humidity_command_template: "<{{ value }}>",
    target_humidity_state_topic: "told",
    target_humidity_state_template: "{{ value_json.now }}",
  });

  const percent = { type: "number", unit: "%", step: 1 };
  assert.deepEqual(thermostat.capabilities, { targetHumidity: { ...percent, min: 30, max: 99 } });
  assert.deepEqual([...(thermostat.known.handler.unreported ?? [])], ["targetHumidity"]);
  assert.deepEqual(own.capabilities, { targetHumidity: { ...percent, min: 40, max: 70 } });
  assert.deepEqual(own.tell("told", { now: 55 }), { targetHumidity: 55 });
  assert.deepEqual(own.ask({ targetHumidity: 60 }), ["set <60>"]);
  assert.deepEqual([...(own.known.handler.unreported ?? [])], []);
});

test("a thermostat with a power topic is switched on and off, and is as requested", () => {
  const thermostat = component("climate", { power_command_topic: "p" });
  const own = component("climate", {
    power_command_topic: "p",
    payload_on: "1",
    payload_off: "0",
    power_command_template: "<{{ value }}>",
  });

  assert.deepEqual(thermostat.capabilities, { on: { type: "boolean" } });
  assert.deepEqual([...(thermostat.known.handler.unreported ?? [])], ["on"]);
  assert.deepEqual(
    [
      thermostat.ask({ on: true }),
      thermostat.ask({ on: false }),
      own.ask({ on: true }),
      own.ask({ on: false }),
    ],
    [["p ON"], ["p OFF"], ["p <1>"], ["p <0>"]],
  );
});

test("a thermostat without topics has no capabilities", () => {
  assert.deepEqual(component("climate", {}).capabilities, {});
});

test("a climate component that cools and dries is an air conditioner, and others are thermostats", () => {
  const kindOf = (modes?: readonly string[]) =>
    component("climate", { mode_command_topic: "set", modes }).known.handler.leads;

  assert.equal(kindOf(["off", "cool", "dry", "fan_only"]), "air-conditioner");
  assert.equal(kindOf(["off", "heat", "cool", "fan_only"]), "thermostat");
  assert.equal(component("climate", { preset_modes: ["eco"] }).known.handler.leads, "thermostat");
  assert.equal(component("water_heater", {}).known.handler.leads, "water-heater");
});
