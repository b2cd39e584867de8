import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const TEXT = { type: "text", readOnly: true } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const choice = (...values: string[]) => ({ type: "choice", values });

for (const domain of ["switch", "input_boolean"]) {
  test(`an entity of ${domain} is switched by the services of its domain`, () => {
    const of = entity(domain, "on");

    assert.deepEqual(view(of).capabilities, { on: SWITCH });
    assert.deepEqual(calls(of, { on: true }), [[`${domain}.turn_on`]]);
    assert.deepEqual(calls(of, { on: false }), [[`${domain}.turn_off`]]);
  });
}

test("an outlet is a plug, and its state may be unknown", () => {
  assert.equal(view(entity("switch", "on", { device_class: "outlet" })).kind, "plug");
  assert.deepEqual(
    ["on", "off", "unknown", "unavailable", ""].map((state) => view(entity("switch", state)).state),
    [{ on: true }, { on: false }, { on: null }, { on: null }, { on: null }],
  );
});

const VACUUM_STATES = ["cleaning", "docked", "idle", "paused", "returning", "error"];

for (const [feature, action, service, reached] of [
  [8_192, "start", "vacuum.start", ["cleaning"]],
  [4, "pause", "vacuum.pause", ["paused", "idle"]],
  [8, "stop", "vacuum.stop", ["idle", "docked", "paused"]],
  [16, "dock", "vacuum.return_to_base", ["returning", "docked"]],
  [512, "locate", "vacuum.locate", VACUUM_STATES],
] as const) {
  test(`a vacuum with the feature ${feature} can ${action}, and has done so when it is ${reached.join(" or ")}`, () => {
    const of = (state: string) => entity("vacuum", state, { supported_features: feature });

    assert.deepEqual(view(of("idle")).capabilities["action"], choice(action));
    assert.deepEqual(calls(of("idle"), { action }), [[service]]);
    assert.deepEqual(
      VACUUM_STATES.filter((state) => isConfirmed({ action }, of("error"), of(state))).toSorted(),
      [...reached].toSorted(),
    );
  });
}

test("a vacuum shows its mode, its suction and its battery, as far as it has them", () => {
  const attributes = { supported_features: 32, fan_speed_list: ["low", "high"] };
  const robo = entity("vacuum", "cleaning", { ...attributes, fan_speed: "low", battery_level: 80 });
  const plain = view(entity("vacuum", "unknown"));

  assert.deepEqual(view(robo).capabilities, {
    mode: { ...choice(...VACUUM_STATES), readOnly: true },
    suction: choice("low", "high"),
    battery: { ...PERCENT, readOnly: true },
  });
  assert.deepEqual(view(robo).state, { mode: "cleaning", suction: "low", battery: 80 });
  assert.deepEqual(Object.keys(plain.capabilities), ["mode"]);
  assert.deepEqual(plain.state, { mode: null });
  assert.deepEqual(calls(robo, { suction: "high" }), [
    ["vacuum.set_fan_speed", { fan_speed: "high" }],
  ]);
});

test("the suction of a vacuum is reached by its value", () => {
  const at = (fan_speed: string) =>
    entity("vacuum", "cleaning", {
      fan_speed,
      supported_features: 32,
      fan_speed_list: ["low", "high"],
    });

  assert.equal(isConfirmed({ suction: "high" }, at("low"), at("low")), false);
  assert.equal(isConfirmed({ suction: "high" }, at("low"), at("high")), true);
});

for (const [feature, mode] of [
  [1, "home"],
  [2, "away"],
  [4, "night"],
  [32, "vacation"],
] as const) {
  test(`an alarm with the feature ${feature} is armed for ${mode}`, () => {
    const of = (state: string) =>
      entity("alarm_control_panel", state, { supported_features: feature });

    assert.deepEqual(view(of("disarmed")).capabilities, {
      mode: choice("disarmed", mode),
      status: TEXT,
    });
    assert.deepEqual(view(of(`armed_${mode}`)).state, { mode, status: `armed_${mode}` });
    assert.deepEqual(calls(of("disarmed"), { mode }), [[`alarm_control_panel.alarm_arm_${mode}`]]);
  });
}

test("an alarm in another state has an unknown mode, and shows that state", () => {
  const of = (state: string) =>
    view(entity("alarm_control_panel", state, { supported_features: 1 })).state;

  assert.deepEqual(of("triggered"), { mode: null, status: "triggered" });
  assert.deepEqual(of("unknown"), { mode: null, status: null });
  assert.deepEqual(of("not_armed_home"), { mode: null, status: "not_armed_home" });
});

test("an alarm that wants a code is only shown", () => {
  const { mode } = capabilities("alarm_control_panel", {
    supported_features: 1,
    code_format: "number",
  });
  assert.deepEqual(mode, { ...choice("disarmed", "home"), readOnly: true });
});

for (const [mode, state, is] of [
  ["away", "armed_away", true],
  ["away", "arming", true],
  ["away", "pending", true],
  ["away", "triggered", false],
  ["disarmed", "disarmed", true],
  ["disarmed", "pending", false],
  ["disarmed", "arming", false],
] as const) {
  test(`the alarm mode ${mode} is ${is ? "" : "not "}reached when it is ${state}`, () => {
    const of = (now: string) => entity("alarm_control_panel", now, { supported_features: 2 });
    assert.equal(isConfirmed({ mode }, of("triggered"), of(state)), is);
  });
}

test("an alarm is disarmed by its own service", () => {
  const of = entity("alarm_control_panel", "armed_away");
  assert.deepEqual(calls(of, { mode: "disarmed" }), [["alarm_control_panel.alarm_disarm"]]);
});

for (const domain of ["number", "input_number"]) {
  test(`a value of ${domain} is set by the service of its domain`, () => {
    assert.deepEqual(calls(entity(domain, "3"), { value: 7 }), [
      [`${domain}.set_value`, { value: 7 }],
    ]);
  });
}

for (const [attributes, capability] of [
  [
    { min: 0, max: 50, step: 5 },
    { type: "number", min: 0, max: 50, step: 5 },
  ],
  [
    { min: 5, max: 5 },
    { type: "number", min: 5, max: 5 },
  ],
  [{ min: 9, max: 5 }, { type: "number" }],
  [{ min: 0 }, { type: "number" }],
  [{ max: 0 }, { type: "number" }],
  [{ step: 0 }, { type: "number" }],
  [{ unit_of_measurement: "W" }, { type: "number", unit: "W" }],
] as const) {
  test(`a number with ${JSON.stringify(attributes)} has ${JSON.stringify(capability)}`, () => {
    assert.deepEqual(capabilities("number", attributes), { value: capability });
  });
}

test("a number in a unit of its own shows it", () => {
  const of = view(entity("number", "3", { unit_of_measurement: "km/h" }));

  assert.deepEqual(of.capabilities, { value: { type: "number" }, unit: TEXT });
  assert.deepEqual(of.state, { value: 3, unit: "km/h" });
});

for (const domain of ["select", "input_select"]) {
  test(`an option of ${domain} is selected by the service of its domain`, () => {
    const of = entity(domain, "a", { options: ["a", "b"] });
    assert.deepEqual(calls(of, { value: "b" }), [[`${domain}.select_option`, { option: "b" }]]);
  });
}

for (const domain of ["button", "input_button"]) {
  test(`an entity of ${domain} is pressed, which the time of its last press confirms`, () => {
    const [before, now] = [entity(domain, "2026-01-01"), entity(domain, "2026-01-02")];

    assert.deepEqual(view(before).capabilities, { press: choice("press") });
    assert.deepEqual(calls(before, { press: "press" }), [[`${domain}.press`]]);
    assert.equal(isConfirmed({ press: "press" }, before, before), false);
    assert.equal(isConfirmed({ press: "press" }, before, now), true);
  });
}
