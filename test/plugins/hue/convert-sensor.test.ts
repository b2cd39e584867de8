import assert from "node:assert/strict";
import { test } from "node:test";
import { actionOf, lastActionOf } from "../../../plugins/hue/convert-button.ts";
import { readingsOf, sensorKind } from "../../../plugins/hue/convert-sensor.ts";
import type { Resource } from "../../../plugins/hue/resources.ts";

const service = (type: string, fields: object = {}): Resource => ({ id: type, type, ...fields });
const YES_NO = { type: "boolean", readOnly: true };
const number = (unit: string, more: object = {}) => ({
  type: "number",
  unit,
  readOnly: true,
  ...more,
});

for (const [type, field, capability] of [
  ["motion", "motion", YES_NO],
  ["camera_motion", "motion", YES_NO],
  ["grouped_motion", "motion", YES_NO],
  ["convenience_area_motion", "motion", YES_NO],
  ["security_area_motion", "motion", YES_NO],
  ["contact", "contact", YES_NO],
  ["tamper", "tamper", YES_NO],
  ["temperature", "temperature", number("°C")],
  ["light_level", "illuminance", number("lx")],
  ["grouped_light_level", "illuminance", number("lx")],
  ["device_power", "battery", number("%", { min: 0, max: 100 })],
] as const) {
  test(`a ${type} that reports nothing is ${field}, unknown`, () => {
    assert.deepEqual(readingsOf([service(type)]), {
      capabilities: { [field]: capability },
      state: { [field]: null },
    });
  });
}

test("other services measure nothing", () => {
  assert.deepEqual(readingsOf([service("light"), service("button")]).capabilities, {});
});

for (const [type, fields, value] of [
  ["motion", { motion: { motion_report: { motion: true } } }, true],
  ["motion", { motion: { motion: false, motion_report: { motion: true } } }, true],
  ["motion", { motion: { motion: true, motion_valid: true } }, true],
  ["motion", { motion: { motion: true } }, true],
  ["motion", { motion: { motion: true, motion_valid: false } }, null],
  ["motion", { enabled: false, motion: { motion: true } }, null],
  ["motion", { enabled: true, motion: { motion: false } }, false],
  ["motion", { motion: { motion: "yes" } }, null],
  ["camera_motion", { motion: { motion_report: { motion: true } } }, true],
  ["grouped_motion", { motion: { motion: true, motion_valid: true } }, true],
  ["grouped_motion", { motion: { motion: true, motion_valid: false } }, null],
  ["security_area_motion", { enabled: true, motion: { motion_report: { motion: true } } }, true],
  ["contact", { contact_report: { state: "contact" } }, true],
  ["contact", { contact_report: { state: "no_contact" } }, false],
  ["tamper", { tamper_reports: [{ state: "not_tampered" }, { state: "tampered" }] }, true],
  ["tamper", { tamper_reports: [{ state: "not_tampered" }] }, false],
  ["tamper", { tamper_reports: [] }, false],
  ["temperature", { temperature: { temperature_report: { temperature: 18.146 } } }, 18.15],
  ["temperature", { temperature: { temperature: 18.14, temperature_valid: true } }, 18.14],
  ["temperature", { temperature: { temperature: "18" } }, null],
  ["temperature", { temperature: { temperature: Infinity } }, null],
  ["light_level", { light: { light_level_report: { light_level: 10_001 } } }, 10],
  ["light_level", { light: { light_level: 1 } }, 1],
  ["light_level", { light: { light_level: 18_027 } }, 63.47],
  ["light_level", { light: { light_level: 200_001 } }, null],
  ["light_level", { light: { light_level: "1" } }, null],
  ["device_power", { power_state: { battery_level: 83 } }, 83],
  ["device_power", { power_state: { battery_level: 101 } }, 100],
  ["device_power", { power_state: { battery_level: -1 } }, 0],
] as const) {
  test(`a ${type} with ${JSON.stringify(fields)} measures ${value}`, () => {
    const [measured] = Object.values(readingsOf([service(type, fields)]).state);
    assert.equal(measured, value);
  });
}

test("of two services of one kind the first counts", () => {
  const at = (battery_level: number) => service("device_power", { power_state: { battery_level } });
  assert.deepEqual(readingsOf([at(80), at(20)]).state, { battery: 80 });
});

for (const [types, kind] of [
  [["motion", "temperature"], "sensor"],
  [["light_level"], "sensor"],
  [["contact", "tamper", "device_power"], "binary-sensor"],
] as const) {
  test(`a device with ${types.join(", ")} is a ${kind}`, () => {
    assert.equal(sensorKind(types.map((type) => service(type))), kind);
  });
}

const button = (fields: object, control_id?: unknown) =>
  service("button", { button: fields, metadata: { control_id } });
const NOON = "2026-11-20T12:00:00.000Z";

for (const [fields, control, name, at] of [
  [{ button_report: { event: "short_release", updated: NOON } }, 2, "button_2_short_release", NOON],
  [
    { button_report: { event: "repeat" }, last_event: "long_press" },
    1,
    "button_1_repeat",
    undefined,
  ],
  [{ last_event: "long_press" }, undefined, "button_1_long_press", undefined],
  [{ last_event: "long_press" }, 3.7, "button_3_long_press", undefined],
  [{ last_event: "x".repeat(40) }, 1, `button_1_${"x".repeat(40)}`, undefined],
] as const) {
  test(`a button ${control} with ${JSON.stringify(fields).slice(0, 60)} was last ${name.slice(0, 30)}`, () => {
    assert.deepEqual(actionOf(button(fields, control)), { name, at, data: {} });
  });
}

for (const last_event of [undefined, "", 7, "Long Press", "x".repeat(41), "press!", "1 press"]) {
  test(`a button whose last event is ${JSON.stringify(last_event)?.slice(0, 20)} has no action`, () => {
    assert.equal(actionOf(button({ last_event })), undefined);
  });
}

for (const [fields, name, at] of [
  [{ bell: { bell_report: { event: "ring", updated: NOON } } }, "ring", NOON],
  [{ bell: { last_event: "ring" } }, "ring", undefined],
  [
    { button: { button_report: { event: "initial_press", updated: NOON } } },
    "button_1_initial_press",
    NOON,
  ],
] as const) {
  test(`a doorbell with ${JSON.stringify(fields).slice(0, 60)} was last ${name}`, () => {
    assert.deepEqual(actionOf(service("bell_button", fields)), { name, at, data: {} });
  });
}

test("a doorbell that nobody rang has no action", () => {
  assert.equal(actionOf(service("bell_button", { bell: {} })), undefined);
});

const turn = (report: object) => service("relative_rotary", { relative_rotary: report });

for (const [direction, name] of [
  ["clock_wise", "rotate_clockwise"],
  ["counter_clock_wise", "rotate_counterclockwise"],
] as const) {
  test(`a dial that turns ${direction} reports ${name}, with its steps and its duration`, () => {
    const rotation = { direction, steps: 30, duration: 400 };
    const data = { steps: 30, durationMs: 400 };

    assert.deepEqual(actionOf(turn({ rotary_report: { updated: NOON, rotation } })), {
      name,
      at: NOON,
      data,
    });
    assert.deepEqual(actionOf(turn({ last_event: { rotation } })), { name, at: undefined, data });
    assert.deepEqual(actionOf(turn({ last_event: { rotation: { direction } } }))?.data, {});
  });
}

test("an incomplete dial report, or another kind of service, gives no action", () => {
  const report = { button_report: { event: "repeat" }, rotation: { direction: "up" } };

  assert.equal(actionOf(turn({ last_event: { rotation: { direction: "up" } } })), undefined);
  assert.equal(actionOf(turn({})), undefined);
  assert.equal(actionOf(service("light", { button: report, relative_rotary: report })), undefined);
  assert.equal(actionOf(undefined), undefined);
});

test("the last action of several buttons is the newest; one without a time comes last", () => {
  const pressed = (control: number, updated?: string) =>
    button({ button_report: { event: "repeat", updated } }, control);
  const last = (...services: Resource[]) => lastActionOf(services)?.name;

  assert.equal(
    last(pressed(1, "2026-11-20"), pressed(2, "2026-11-22"), pressed(3, "2026-11-21")),
    "button_2_repeat",
  );
  assert.equal(last(pressed(1), pressed(2, "2026-11-22")), "button_2_repeat");
  assert.equal(last(button({}, 1)), undefined);
  assert.equal(last(pressed(1, "none"), pressed(2, "2026-11-22")), "button_2_repeat");
});
