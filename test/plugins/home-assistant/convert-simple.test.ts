import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const YES_NO = { type: "boolean", readOnly: true } as const;
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

for (const [supported_features, more] of [
  [0, {}],
  [1, { speed: PERCENT }],
  [2, { oscillating: SWITCH }],
  [4, { direction: choice("forward", "reverse") }],
  [8, { preset: choice("auto", "sleep") }],
] as const) {
  test(`a fan with the features ${supported_features} has on${Object.keys(more)
    .map((name) => `, ${name}`)
    .join("")}`, () => {
    const attributes = { supported_features, preset_modes: ["auto", "sleep"] };
    assert.deepEqual(capabilities("fan", attributes), { on: SWITCH, ...more });
  });
}

test("a fan shows its speed, direction, preset and if it swings", () => {
  const attributes = {
    ...{ supported_features: 15, preset_modes: ["auto"], percentage: 40 },
    ...{ direction: "reverse", preset_mode: "auto" },
  };
  const shown = { on: true, speed: 40, direction: "reverse", preset: "auto" };

  assert.deepEqual(view(entity("fan", "on", attributes)).state, { ...shown, oscillating: false });
  const swinging = { ...attributes, oscillating: true };
  assert.deepEqual(view(entity("fan", "on", swinging)).state, { ...shown, oscillating: true });
});

test("each field of a command to a fan calls its service, and off calls nothing else", () => {
  const of = entity("fan", "on");

  assert.deepEqual(
    calls(of, { on: true, speed: 33.4, oscillating: false, direction: "reverse", preset: "auto" }),
    [
      ["fan.turn_on"],
      ["fan.set_percentage", { percentage: 33 }],
      ["fan.oscillate", { oscillating: false }],
      ["fan.set_direction", { direction: "reverse" }],
      ["fan.set_preset_mode", { preset_mode: "auto" }],
    ],
  );
  assert.deepEqual(calls(of, { on: false, speed: 40 }), [["fan.turn_off"]]);
  assert.deepEqual(calls(of, { speed: 40 }), [["fan.set_percentage", { percentage: 40 }]]);
});

for (const [step, told, is] of [
  [25, 75, true],
  [25, 25, true],
  [25, 76, false],
  [undefined, 51, true],
  [undefined, 52, false],
  [0.5, 51, true],
] as const) {
  test(`the speed 50 of a fan with steps of ${step} is ${is ? "" : "not "}reached with ${told}`, () => {
    const at = (percentage: number) =>
      entity("fan", "on", { percentage, percentage_step: step, supported_features: 1 });
    assert.equal(isConfirmed({ speed: 50 }, at(0), at(told)), is);
  });
}

test("other fields of a fan are reached by their value", () => {
  const of = (state: string) => entity("fan", state, { percentage: 50 });

  assert.equal(isConfirmed({ on: true }, of("off"), of("off")), false);
  assert.equal(isConfirmed({ on: true }, of("off"), of("on")), true);
});

for (const [state, locked, jammed] of [
  ["locked", true, false],
  ["unlocking", true, false],
  ["unlocked", false, false],
  ["locking", false, false],
  ["open", false, false],
  ["opening", false, false],
  ["jammed", null, true],
  ["unknown", null, false],
] as const) {
  test(`a lock that is ${state} is ${locked === null ? "in an unknown state" : locked ? "locked" : "unlocked"}`, () => {
    assert.deepEqual(view(entity("lock", state)).state, { locked, jammed });
  });
}

test("a lock is locked and unlocked, unless it wants a code", () => {
  const of = entity("lock", "locked");

  assert.deepEqual(view(of).capabilities, { locked: SWITCH, jammed: YES_NO });
  assert.deepEqual(calls(of, { locked: true }), [["lock.lock"]]);
  assert.deepEqual(calls(of, { locked: false }), [["lock.unlock"]]);
  assert.deepEqual(capabilities("lock", { code_format: "number" }), {
    locked: YES_NO,
    jammed: YES_NO,
  });
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
