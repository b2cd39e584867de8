import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const RED = { hue: 0, saturation: 100 };
const LAMP = { schema: "json", state_topic: "s", command_topic: "set" };
const FULL = {
  ...LAMP,
  supported_color_modes: ["hs", "color_temp"],
  effect: true,
  effect_list: ["candle", "party"],
};

for (const [config, names] of [
  [{}, ["on"]],
  [{ brightness: true }, ["on", "brightness"]],
  [{ supported_color_modes: ["onoff"] }, ["on"]],
  [{ supported_color_modes: ["brightness"] }, ["on", "brightness"]],
  [{ supported_color_modes: ["onoff", "white"] }, ["on", "brightness"]],
  [{ supported_color_modes: ["color_temp"] }, ["on", "brightness", "colorTemperature"]],
  [{ color_temp: true }, ["on", "colorTemperature"]],
  [{ rgb: true }, ["on", "color"]],
  [{ effect_list: ["a"] }, ["on"]],
  [{ effect: true, effect_list: ["a"] }, ["on", "effect"]],
] as const) {
  test(`a JSON light with ${JSON.stringify(config)} has ${names.join(", ")}`, () => {
    const lamp = component("light", { ...LAMP, ...config });

    assert.deepEqual(lamp.names, names);
    assert.equal(lamp.known.handler.leads, "light");
    assert.deepEqual([...(lamp.known.handler.unreported ?? [])], []);
  });
}

for (const [mode, color] of [
  ["hs", { h: 0, s: 100 }],
  ["xy", { x: 0.64, y: 0.33 }],
  ["rgb", { r: 255, g: 0, b: 0 }],
  ["rgbw", { r: 255, g: 0, b: 0, w: 0 }],
  ["rgbww", { r: 255, g: 0, b: 0, c: 0, w: 0 }],
] as const) {
  test(`a JSON light of the mode ${mode} is sent red as ${JSON.stringify(color)}`, () => {
    const lamp = component("light", { ...LAMP, supported_color_modes: [mode] });

    assert.deepEqual(lamp.ask({ color: RED }), [`set ${JSON.stringify({ state: "ON", color })}`]);
  });
}

for (const [payload, state] of [
  [{ state: "ON" }, { on: true }],
  [{ state: "OFF" }, { on: false }],
  [{ state: null }, { on: null }],
  [{ state: "None" }, { on: null }],
  [{ state: "?" }, {}],
  [{ brightness: 255 }, { brightness: 100 }],
  [{ brightness: null }, {}],
  [{ color_temp: 250 }, { colorTemperature: 4_000 }],
  [{ effect: "party" }, { effect: "party" }],
  [{ effect: null }, {}],
  [{ color: { h: 0, s: 100 } }, { color: RED }],
  [{ color: { x: 0.64, y: 0.33 } }, { color: RED }],
  [{ color: { r: 255, g: 0, b: 0 } }, { color: RED }],
  [{ color: { h: 0, s: 100, x: 0.3, y: 0.3 } }, { color: RED }],
  [{ color: { h: 9, x: 0.64, y: 0.33 } }, { color: RED }],
  [{ color: { s: 9, x: 0.64, y: 0.33 } }, { color: RED }],
  [{ color: { x: 0.5, r: 255, g: 0, b: 0 } }, { color: RED }],
  [{ color: { y: 0.5, r: 255, g: 0, b: 0 } }, { color: RED }],
  [{ color: { r: 255, g: 0 } }, {}],
  [{ color: { r: 255, b: 0 } }, {}],
  [{ color: { g: 0, b: 0 } }, {}],
  [{ color: null }, { color: null }],
  [{ color: "red" }, {}],
  [{ color_mode: "color_temp", color: { h: 0, s: 100 } }, { color: null }],
  [{ color_mode: "hs", color: { h: 0, s: 100 } }, { color: RED }],
] as const) {
  test(`a JSON light that reports ${JSON.stringify(payload)} changes ${JSON.stringify(state)}`, () => {
    const lamp = component("light", FULL);
    const before = lamp.tell("s", {
      state: "OFF",
      brightness: 51,
      color_temp: 200,
      effect: "candle",
      color: { h: 90, s: 50 },
    });

    assert.deepEqual(lamp.tell("s", payload), { ...before, ...state });
    assert.deepEqual(lamp.garbage, []);
  });
}

test("a JSON light that reports a brightness that is not a number has an unknown one", () => {
  const lamp = component("light", FULL);

  assert.equal(lamp.tell("s", { brightness: "bright" })["brightness"], null);
});

test("a field that a JSON light reports without having announced it is left out", () => {
  const lamp = component("light", { ...LAMP, brightness: true });
  const told = {
    state: "ON",
    brightness: 255,
    color_temp: 250,
    color: { h: 1, s: 2 },
    effect: "a",
  };

  assert.deepEqual(lamp.tell("s", told), { on: true, brightness: 100 });
  assert.deepEqual(lamp.unusable, []);
});

test("a message that is not a JSON object is garbage, and an empty message is nothing", () => {
  const lamp = component("light", LAMP);

  lamp.tell("s", "");
  assert.deepEqual(lamp.garbage, []);
  for (const payload of ["ON", "[1]", '"ON"', "7"]) lamp.tell("s", payload);
  assert.deepEqual(lamp.garbage, Array(4).fill("it is not a JSON object"));
});

test("a JSON light is read and sent through its templates", () => {
  const lamp = component("light", {
    ...LAMP,
    value_template: "{{ value_json.inner | tojson }}",
    command_template: "<{{ value }}>",
  });

  assert.deepEqual(lamp.tell("s", { state: "OFF", inner: { state: "ON" } }), { on: true });
  assert.deepEqual(lamp.ask({ on: false }), ['set <{"state":"OFF"}>']);
});

test("a template of a JSON light that fails changes nothing", () => {
  const lamp = component("light", { ...LAMP, value_template: "{{ 1 / value_json.x }}" });

  assert.deepEqual(lamp.tell("s", { x: 0 }), { on: null });
});

test("a JSON light is sent only what was requested and what it can do", () => {
  const lamp = component("light", FULL);
  const plain = component("light", LAMP);
  const command = { colorTemperature: 4_000, color: RED, effect: "party", brightness: 100 };

  assert.deepEqual(lamp.ask({ effect: "party" }), ['set {"state":"ON","effect":"party"}']);
  assert.deepEqual(plain.ask(command), ['set {"state":"ON","brightness":255,"effect":"party"}']);
});

test("a JSON light without a state topic subscribes to nothing, and its state is what was requested", () => {
  const { known, names } = component("light", { ...FULL, state_topic: undefined });

  assert.deepEqual(known.topics, []);
  assert.deepEqual([...(known.handler.unreported ?? [])], names);
});
