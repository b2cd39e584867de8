import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const FAN = { state_topic: "s", command_topic: "set" };

test("a fan has what its topics allow, and what is only reported is read-only", () => {
  const all = component("fan", {
    ...FAN,
    percentage_command_topic: "a",
    preset_mode_command_topic: "b",
    oscillation_command_topic: "c",
    direction_command_topic: "d",
    preset_modes: ["auto", "sleep"],
  });

  assert.equal(all.known.handler.leads, "fan");
  assert.deepEqual(all.capabilities, {
    on: { type: "boolean" },
    speed: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
    preset: { type: "choice", values: ["auto", "sleep"] },
    oscillating: { type: "boolean" },
    direction: { type: "choice", values: ["forward", "reverse"] },
  });
  assert.deepEqual(component("fan", FAN).capabilities, { on: { type: "boolean" } });
  assert.deepEqual(component("fan", { state_topic: "s" }).capabilities, {
    on: { type: "boolean", readOnly: true },
  });
});

for (const [field, topic, template, payload, value] of [
  ["on", "state_topic", "state_value_template", "OFF", false],
  ["speed", "percentage_state_topic", "percentage_value_template", "40", 40],
  ["preset", "preset_mode_state_topic", "preset_mode_value_template", "auto", "auto"],
  ["oscillating", "oscillation_state_topic", "oscillation_value_template", "oscillate_on", true],
  ["direction", "direction_state_topic", "direction_value_template", "reverse", "reverse"],
] as const) {
  const commands = {
    command_topic: "set",
    percentage_command_topic: "a",
    preset_mode_command_topic: "b",
    oscillation_command_topic: "c",
    direction_command_topic: "d",
    preset_modes: ["auto"],
  };

  test(`a fan reports ${field} on its ${topic}, through its ${template}`, () => {
    const fan = component("fan", {
      ...commands,
      [topic]: "told",
      [template]: "{{ value_json.x }}",
    });

    assert.equal(fan.tell("told", { x: payload })[field], value);
  });

  test(`a fan without a ${topic} does not report ${field}`, () => {
    const fan = component("fan", { ...commands, [topic]: "told" });
    const others = ["on", "speed", "preset", "oscillating", "direction"].filter(
      (each) => each !== field,
    );

    assert.deepEqual([...(fan.known.handler.unreported ?? [])], others);
  });
}

for (const [field, prefix, value, payload] of [
  ["on", "", true, "ON"],
  ["on", "", false, "OFF"],
  ["speed", "percentage_", 40, "40"],
  ["preset", "preset_mode_", "auto", "auto"],
  ["oscillating", "oscillation_", true, "oscillate_on"],
  ["oscillating", "oscillation_", false, "oscillate_off"],
  ["direction", "direction_", "reverse", "reverse"],
] as const) {
  test(`a fan is sent ${field} ${value} as ${payload} on its ${prefix}command_topic, through its template`, () => {
    const config = { [`${prefix}command_topic`]: "set", preset_modes: ["auto"] };
    const own = { ...config, [`${prefix}command_template`]: "<{{ value }}>" };

    assert.deepEqual(component("fan", config).ask({ [field]: value }), [`set ${payload}`]);
    assert.deepEqual(component("fan", own).ask({ [field]: value }), [`set <${payload}>`]);
  });
}

test("a fan uses its own payloads", () => {
  const fan = component("fan", {
    ...FAN,
    payload_on: "1",
    payload_off: "0",
    oscillation_command_topic: "o",
    payload_oscillation_on: "swing",
    payload_oscillation_off: "still",
    oscillation_state_topic: "o/now",
  });

  assert.deepEqual([fan.ask({ on: true }), fan.ask({ on: false })], [["set 1"], ["set 0"]]);
  assert.deepEqual(
    [fan.ask({ oscillating: true }), fan.ask({ oscillating: false })],
    [["o swing"], ["o still"]],
  );
  fan.tell("s", "0");
  assert.deepEqual(fan.tell("o/now", "swing"), { on: false, oscillating: true });
});

test("speeds go from the least to the greatest of the range, and 0 % is below it", () => {
  const fan = component("fan", {
    percentage_command_topic: "set",
    percentage_state_topic: "s",
    speed_range_min: 3,
    speed_range_max: 6,
  });

  assert.deepEqual(
    ["1", "2", "3", "6", "9"].map((raw) => fan.tell("s", raw)["speed"]),
    [0, 0, 25, 100, 100],
  );
  assert.deepEqual(
    [0, 1, 25, 26, 100].map((speed) => fan.ask({ speed })[0]),
    ["set 2", "set 3", "set 3", "set 4", "set 6"],
  );
});

test("values that a fan has no topic for are not sent", () => {
  assert.deepEqual(
    component("fan", { state_topic: "s" }).ask({
      on: true,
      preset: "auto",
      oscillating: true,
      direction: "reverse",
    }),
    [],
  );
});

for (const levels of [1, 3, 4, 6, 7, 100, 200]) {
  test(`every level of a fan with ${levels} speeds is sent again by the percentage that shows it`, () => {
    const fan = component("fan", {
      percentage_command_topic: "set",
      percentage_state_topic: "s",
      speed_range_max: levels,
    });
    const all = Array.from({ length: levels + 1 }, (_, level) => level);

    const shown = all.map((level) => fan.tell("s", `${level}`)["speed"]);

    assert.equal(new Set(shown).size, levels + 1);
    assert.deepEqual([shown[0], shown[levels]], [0, 100]);
    assert.deepEqual(
      shown.map((speed) => fan.ask({ speed: Number(speed) })[0]),
      all.map((level) => `set ${level}`),
    );
    const exact = all.map((level) => (level * 100) / levels);
    const rounded = exact.map((percent) => Number(percent.toFixed(2)));
    for (const percents of levels > 100 ? [exact] : [exact, rounded]) {
      assert.deepEqual(
        percents.map((speed) => fan.ask({ speed })[0]),
        all.map((level) => `set ${level}`),
      );
    }
  });
}

test("level 2 of 3 is two thirds, and a percentage between two levels is the higher one", () => {
  const fan = component("fan", {
    percentage_command_topic: "set",
    percentage_state_topic: "s",
    speed_range_max: 3,
  });

  assert.deepEqual(
    ["1", "2", "3"].map((level) => Number(fan.tell("s", level)["speed"]).toFixed(2)),
    ["33.33", "66.67", "100.00"],
  );
  assert.equal((fan.capabilities["speed"] as { step: number }).step, 100 / 3);
  assert.deepEqual(
    [1, 33, 34, 66, 67, 100].map((speed) => fan.ask({ speed })[0]),
    ["set 1", "set 1", "set 2", "set 2", "set 3", "set 3"],
  );
});

test("the payload_reset_percentage makes the speed unknown", () => {
  const fan = component("fan", {
    percentage_command_topic: "set",
    percentage_state_topic: "s",
    payload_reset_percentage: "?",
  });

  assert.equal(fan.tell("s", "40")["speed"], 40);
  assert.equal(fan.tell("s", "?")["speed"], null);
});

for (const [min, max] of [
  [5, 1],
  [0, 3],
  [1, 2.5],
] as const) {
  test(`a fan with speeds from ${min} to ${max} is refused`, () => {
    const config = { ...FAN, percentage_command_topic: "p" };

    assert.throws(
      () => component("fan", { ...config, speed_range_min: min, speed_range_max: max }),
      { name: "DiscoveryError", message: /^speed_range_min / },
    );
  });
}
