import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const COLOR = { hue: 240, saturation: 100 };
const LAMP = {
  schema: "template",
  state_topic: "s",
  command_topic: "set",
  command_on_template: "on",
  command_off_template: "off",
};
const READ = {
  state_template: "{{ value_json.state }}",
  brightness_template: "{{ value_json.level }}",
  color_temp_template: "{{ value_json.mired }}",
  red_template: "{{ value_json.r }}",
  green_template: "{{ value_json.g }}",
  blue_template: "{{ value_json.b }}",
  effect_template: "{{ value_json.effect }}",
  effect_list: ["a", "b"],
};
const FULL = { ...LAMP, ...READ };
const NAMES = ["on", "brightness", "colorTemperature", "color", "effect"];

const without = (name: keyof typeof READ) => ({ ...FULL, [name]: undefined });
const unreportedOf = ({ known }: ReturnType<typeof component>) => [
  ...(known.handler.unreported ?? []),
];

for (const [name, field] of [
  ["brightness_template", "brightness"],
  ["color_temp_template", "colorTemperature"],
  ["red_template", "color"],
  ["green_template", "color"],
  ["blue_template", "color"],
  ["effect_list", "effect"],
] as const) {
  test(`a template light without ${name} has no ${field}`, () => {
    assert.deepEqual(
      component("light", without(name)).names,
      NAMES.filter((each) => each !== field),
    );
  });
}

for (const name of ["command_topic", "command_on_template", "command_off_template"] as const) {
  test(`a template light without ${name} is refused with the reason`, () => {
    assert.throws(() => component("light", { ...FULL, [name]: undefined }), {
      message: /^a template light needs command_topic and command_(on|off)_template$/,
    });
  });
}

for (const [payload, state] of [
  [{ state: "on" }, { on: true }],
  [{ state: "off" }, { on: false }],
  [{ state: "None" }, { on: null }],
  [{ state: "ON" }, {}],
  [{ level: 255 }, { brightness: 100 }],
  [{ level: "x" }, {}],
  [{ mired: 200 }, { colorTemperature: 5_000 }],
  [{ r: 0, g: 0, b: 255 }, { color: COLOR }],
  [{ r: 0, g: 0, b: "x" }, {}],
  [{ r: 0, g: "x", b: 255 }, {}],
  [{ r: "x", g: 0, b: 255 }, {}],
  [{ r: "None", g: "None", b: "None" }, { color: null }],
  [{ r: "None", g: 0, b: 255 }, {}],
  [{ effect: "b" }, { effect: "b" }],
  [{ effect: "" }, {}],
] as const) {
  test(`a template light that reports ${JSON.stringify(payload)} changes ${JSON.stringify(state)}`, () => {
    const nothing = { state: "", level: "", mired: "", r: "", g: "", b: "", effect: "" };
    const lamp = component("light", FULL);
    const before = lamp.tell("s", {
      state: "off",
      level: 51,
      mired: 250,
      r: 255,
      g: 0,
      b: 0,
      effect: "a",
    });

    assert.deepEqual(lamp.tell("s", { ...nothing, ...payload }), { ...before, ...state });
    assert.deepEqual(lamp.unusable, []);
  });
}

for (const [command, variables] of [
  [{ brightness: 100 }, "255|||||||"],
  [{ colorTemperature: 4_000 }, "|250||||||"],
  [{ effect: "b" }, "||b|||||"],
  [{ color: COLOR }, "|||0|0|255|240|100"],
  [{ on: true }, "|||||||"],
] as const) {
  test(`the template for on gets ${JSON.stringify(command)} in its variables`, () => {
    const variable = (name: string) => `{% if ${name} is defined %}{{ ${name} }}{% endif %}`;
    const lamp = component("light", {
      ...FULL,
      command_on_template: [
        "brightness",
        "color_temp",
        "effect",
        "red",
        "green",
        "blue",
        "hue",
        "sat",
      ]
        .map(variable)
        .join("|"),
    });

    assert.deepEqual(lamp.ask(command), [`set ${variables}`]);
  });
}

test("a template light without colour temperatures gets none in its variables", () => {
  const lamp = component("light", {
    ...without("color_temp_template"),
    command_on_template: "{{ color_temp is defined }}",
  });

  assert.deepEqual(lamp.ask({ colorTemperature: 4_000 }), ["set False"]);
});

test("a template light without a state template or topic, or an optimistic one, is as requested", () => {
  assert.deepEqual(unreportedOf(component("light", FULL)), []);
  assert.deepEqual(unreportedOf(component("light", without("state_template"))), NAMES);
  assert.deepEqual(unreportedOf(component("light", { ...FULL, state_topic: undefined })), NAMES);
  assert.deepEqual(unreportedOf(component("light", { ...FULL, optimistic: true })), NAMES);
});

test("an effect that no template reads is as requested", () => {
  assert.deepEqual(unreportedOf(component("light", without("effect_template"))), ["effect"]);
});

test("a template light without a state topic listens to nothing", () => {
  const { known } = component("light", { ...FULL, state_topic: undefined });
  assert.deepEqual(known.topics, []);
});

test("a template light that only switches is read without its other templates", () => {
  const lamp = component("light", { ...LAMP, state_template: "{{ value }}" });

  assert.equal(lamp.known.handler.leads, "light");
  assert.deepEqual(lamp.tell("s", "on"), { on: true });
});
