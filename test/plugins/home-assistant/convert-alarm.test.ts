import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmed, view } from "./entity.ts";

const choice = (...values: string[]) => ({ type: "choice", values });
const STATUS = {
  ...choice("disarmed", "arming", "armed", "pending", "triggered"),
  readOnly: true,
};

for (const [feature, mode, name] of [
  [1, "home", "home"],
  [2, "away", "away"],
  [4, "night", "night"],
  [32, "vacation", "vacation"],
  [16, "custom", "custom_bypass"],
] as const) {
  test(`an alarm with the feature ${feature} is armed for ${mode}`, () => {
    const of = (state: string) =>
      entity("alarm_control_panel", state, { supported_features: feature });

    assert.deepEqual(view(of("disarmed")).capabilities, {
      mode: choice("disarmed", mode),
      status: STATUS,
    });
    assert.deepEqual(view(of(`armed_${name}`)).state, { mode, status: "armed" });
    assert.deepEqual(calls(of("disarmed"), { mode }), [[`alarm_control_panel.alarm_arm_${name}`]]);
  });
}

for (const [state, mode, status] of [
  ["disarmed", "disarmed", "disarmed"],
  ["disarming", undefined, "armed"],
  ["arming", undefined, "arming"],
  ["pending", undefined, "pending"],
  ["triggered", undefined, "triggered"],
  ["unknown", null, null],
  ["not_armed_home", undefined, null],
  ["armed_away", null, "armed"],
] as const) {
  test(`an alarm without the mode away that is ${state} has the mode ${mode} and the status ${status}`, () => {
    const of = entity("alarm_control_panel", state, { supported_features: 1 });
    const told = { status, ...(mode === undefined ? {} : { mode }) };
    assert.deepEqual(view(of).state, told);
  });
}

test("an alarm that wants a code takes it with each command", () => {
  const of = entity("alarm_control_panel", "disarmed", {
    supported_features: 1,
    code_format: "number",
  });

  assert.deepEqual(view(of).capabilities, {
    mode: choice("disarmed", "home"),
    status: STATUS,
    code: { type: "text" },
  });
  assert.deepEqual(calls(of, { mode: "home", code: "1234" }), [
    ["alarm_control_panel.alarm_arm_home", { code: "1234" }],
  ]);
  assert.deepEqual(calls(of, { mode: "disarmed", code: "1234" }), [
    ["alarm_control_panel.alarm_disarm", { code: "1234" }],
  ]);
  assert.deepEqual(calls(of, { code: "1234" }), []);
});

test("an alarm with the feature can be triggered", () => {
  const at = (state: string) => entity("alarm_control_panel", state, { supported_features: 8 });

  assert.deepEqual(view(at("disarmed")).extra, {
    capabilities: { trigger: { type: "command", group: "main" } },
    state: {},
  });
  assert.deepEqual(calls(at("disarmed"), { trigger: true }), [
    ["alarm_control_panel.alarm_trigger"],
  ]);
  assert.deepEqual(
    ["triggered", "pending", "disarmed"].map((state) =>
      isConfirmed({ trigger: true }, at("disarmed"), at(state)),
    ),
    [true, true, false],
  );
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
    assert.equal(isConfirmed({ mode, code: "1" }, of("triggered"), of(state)), is);
  });
}
