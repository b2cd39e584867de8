import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const LAMP = { command_topic: "set" };
const RED = { hue: 0, saturation: 100 };

const unreportedOf = ({ known }: ReturnType<typeof component>) => [
  ...(known.handler.unreported ?? []),
];

/** A lamp with one feature, which has topics and templates of its own. */
function lampWith(name: string, config: object = {}) {
  return component("light", {
    ...LAMP,
    [`${name}_command_topic`]: "f/set",
    [`${name}_state_topic`]: "f",
    ...config,
  });
}

test("a lamp is only switched, if it announces nothing else", () => {
  const lamp = component("light", LAMP);

  assert.equal(lamp.known.handler.leads, "light");
  assert.deepEqual(lamp.capabilities, { on: { type: "boolean" } });
  assert.deepEqual([lamp.ask({ on: true }), lamp.ask({ on: false })], [["set ON"], ["set OFF"]]);
  assert.deepEqual(component("light", { ...LAMP, schema: "Basic" }).names, ["on"]);
});

test("a lamp uses its own payloads and command template", () => {
  const own = { payload_on: "1", payload_off: "0", state_topic: "s" };
  const lamp = component("light", { ...LAMP, ...own, command_template: "<{{ value }}>" });

  assert.deepEqual([lamp.ask({ on: true }), lamp.ask({ on: false })], [["set <1>"], ["set <0>"]]);
  assert.deepEqual([lamp.tell("s", "1"), lamp.tell("s", "0")], [{ on: true }, { on: false }]);
});

for (const template of ["state_value_template", "value_template"]) {
  test(`the state of a lamp is read through its ${template}`, () => {
    const lamp = component("light", {
      ...LAMP,
      state_topic: "s",
      [template]: "{{ value_json.a }}",
    });

    assert.deepEqual(lamp.tell("s", { a: "ON" }), { on: true });
  });
}

test("a light without a command topic, or of an unknown schema, is refused with the reason", () => {
  assert.throws(() => component("light", {}), {
    message: "command_topic is missing, or refused by refusedTopics",
  });
  assert.throws(() => component("light", { ...LAMP, schema: "other" }), {
    message: "a light has the schema default, json or template",
  });
});

for (const [name, field, config] of [
  ["brightness", "brightness", {}],
  ["color_temp", "colorTemperature", {}],
  ["effect", "effect", { effect_list: ["a"] }],
  ["hs", "color", {}],
  ["xy", "color", {}],
  ["rgb", "color", {}],
] as const) {
  test(`${field} is as requested if no ${name}_state_topic reports it`, () => {
    const topics = { state_topic: "s" };
    assert.deepEqual(unreportedOf(lampWith(name, { ...config, ...topics })), []);
    const silent = { ...config, ...topics, [`${name}_state_topic`]: undefined };
    assert.deepEqual(unreportedOf(lampWith(name, silent)), [field]);
  });
}

for (const [name, color, template, payload] of [
  ["hs", { hue: 10, saturation: 20 }, "{{ hue }} {{ sat }}", "10 20"],
  ["xy", RED, "{{ x }} {{ y }}", "0.64 0.33"],
  ["rgb", RED, "{{ red }} {{ green }} {{ blue }}", "255 0 0"],
  ["rgbw", RED, "{{ red }} {{ green }} {{ blue }} {{ white }}", "255 0 0 0"],
  ["rgbww", RED, "{{ red }} {{ cold_white }} {{ warm_white }}", "255 0 0"],
  ["rgb", RED, "{{ value }}", "255,0,0"],
  ["rgbw", RED, "{{ value }}", "255,0,0,0"],
  ["rgbww", RED, "{{ value }}", "255,0,0,0,0"],
] as const) {
  test(`a colour is sent as ${name} through the template ${template}`, () => {
    const lamp = lampWith(name, { [`${name}_command_template`]: template });

    assert.deepEqual(lamp.ask({ color }), [`f/set ${payload}`]);
  });
}

for (const [name, payload, color] of [
  ["hs", "10,20", { hue: 10, saturation: 20 }],
  ["hs", "10", null],
  ["hs", "10,x", null],
  ["xy", "0.64,0.33", RED],
  ["xy", "0.64", null],
  ["xy", "0.7,0.4", null],
  ["xy", "-0.1,0.3", null],
  ["xy", "0.3,0", null],
  ["rgb", "255,0,0", RED],
  ["rgb", "7,7,7", { hue: 0, saturation: 0 }],
  ["rgb", "0,0,0", { hue: 0, saturation: 0 }],
  ["rgbw", "255,0,0,9", RED],
  ["rgb", "255,0", null],
] as const) {
  test(`a lamp that reports the ${name} colour ${payload} has ${JSON.stringify(color)}`, () => {
    assert.deepEqual(lampWith(name).tell("f", payload)["color"], color);
  });
}

test("a colour that cannot be read keeps the colour before, and None makes it unknown", () => {
  const lamp = lampWith("hs");
  lamp.tell("f", "10,20");

  assert.deepEqual(lamp.tell("f", "nonsense")["color"], { hue: 10, saturation: 20 });
  assert.equal(lamp.tell("f", "None")["color"], null);
});

for (const [mode, color] of [
  ["white", null],
  ["color_temp", null],
  ["rgb", RED],
] as const) {
  test(`a lamp in the mode ${mode} shows ${color ? "its colour" : "no colour"}`, () => {
    const lamp = lampWith("rgb", { color_mode_state_topic: "mode" });
    lamp.tell("f", "255,0,0");

    assert.deepEqual(lamp.tell("mode", mode)["color"], color);
  });
}

test("a lamp without colours does not listen to its colour mode", () => {
  const lamp = component("light", { ...LAMP, color_mode_state_topic: "mode" });
  assert.deepEqual(lamp.known.topics, []);
});

test("an effect of the list is sent and reported", () => {
  const lamp = lampWith("effect", { effect_list: ["a", "b"] });

  assert.deepEqual(lamp.capabilities["effect"], { type: "choice", values: ["a", "b"] });
  assert.deepEqual(lamp.ask({ effect: "b" }), ["f/set b"]);
  assert.equal(lamp.tell("f", "a")["effect"], "a");
  assert.equal(lampWith("effect").capabilities["effect"], undefined);
});

test("values that a lamp has no topic for are not sent", () => {
  const command = { brightness: 5, colorTemperature: 4_000, color: RED, effect: "a" };
  assert.deepEqual(component("light", LAMP).ask(command), []);
});

test("a lamp that is switched on through its brightness is sent no payload for on", () => {
  const lamp = lampWith("brightness", { on_command_type: "brightness" });

  assert.deepEqual(lamp.ask({ on: true, brightness: 100 }), ["f/set 255"]);
  assert.deepEqual(lamp.ask({ on: true }), ["set ON"]);
  assert.deepEqual(lamp.ask({ on: false, brightness: 100 }), ["set OFF"]);
  assert.deepEqual(lamp.ask({ brightness: 100 }), ["f/set 255"]);
});

for (const [scale, full] of [
  [undefined, 255],
  [100, 100],
  [1, 1],
  [0.5, 255],
  [0, 255],
] as const) {
  test(`with the brightness scale ${scale} full brightness is ${full}`, () => {
    const lamp = lampWith("brightness", { brightness_scale: scale });

    assert.deepEqual(lamp.ask({ brightness: 100 }), [`f/set ${full}`]);
    assert.equal(lamp.tell("f", `${full}`)["brightness"], 100);
  });
}

for (const [config, min, max] of [
  [{}, 2_000, 6_536],
  [{ min_mireds: 200, max_mireds: 400 }, 2_500, 5_000],
  [{ min_kelvin: 2_200, max_kelvin: 5_600 }, 2_200, 5_600],
  [{ min_kelvin: 5_600, max_kelvin: 2_200 }, 2_200, 5_600],
] as const) {
  test(`a lamp with ${JSON.stringify(config)} shines from ${min} to ${max} K`, () => {
    const lamp = lampWith("color_temp", config);

    assert.deepEqual(lamp.capabilities["colorTemperature"], {
      type: "number",
      min,
      max,
      step: 50,
      unit: "K",
    });
    assert.equal(lamp.tell("f", "50")["colorTemperature"], max);
    assert.equal(lamp.tell("f", "900")["colorTemperature"], min);
    assert.deepEqual(lamp.ask({ colorTemperature: 4_000 }), ["f/set 250"]);
  });
}

test("a lamp that speaks of kelvin is read and sent kelvin", () => {
  const lamp = lampWith("color_temp", { color_temp_kelvin: true });

  assert.equal(lamp.tell("f", "4000.4")["colorTemperature"], 4_000);
  assert.deepEqual(lamp.ask({ colorTemperature: 4_000 }), ["f/set 4000"]);
});
