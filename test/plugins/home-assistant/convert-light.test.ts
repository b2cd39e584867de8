import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const FULL = { supported_color_modes: ["color_temp", "hs"] };
const lamp = entity("light", "on", FULL);

for (const [modes, names] of [
  [undefined, ["on"]],
  [["onoff"], ["on"]],
  [["unknown"], ["on"]],
  [["brightness"], ["on", "brightness"]],
  [["white"], ["on", "brightness"]],
  [
    ["onoff", "brightness"],
    ["on", "brightness"],
  ],
  [["color_temp"], ["on", "brightness", "colorTemperature"]],
  [["hs"], ["on", "brightness", "color"]],
  [["xy"], ["on", "brightness", "color"]],
  [["rgb"], ["on", "brightness", "color"]],
  [["rgbw"], ["on", "brightness", "color"]],
  [
    ["rgbww", "color_temp"],
    ["on", "brightness", "colorTemperature", "color"],
  ],
] as const) {
  test(`a light with the colour modes ${JSON.stringify(modes)} has ${names.join(", ")}`, () => {
    const found = capabilities("light", { supported_color_modes: modes });
    assert.deepEqual(Object.keys(found), names);
  });
}

for (const [attributes, min, max] of [
  [{}, 2_000, 6_535],
  [{ min_color_temp_kelvin: 2_200, max_color_temp_kelvin: 5_000 }, 2_200, 5_000],
  [{ min_mireds: 200, max_mireds: 400 }, 2_500, 5_000],
  [{ min_color_temp_kelvin: 2_200, max_mireds: 400 }, 2_200, 6_535],
  [{ min_mireds: 0, max_mireds: -1 }, 2_000, 6_535],
  [{ min_color_temp_kelvin: 5_000, max_color_temp_kelvin: 5_000 }, 2_000, 6_535],
  [{ min_color_temp_kelvin: 5_000, max_color_temp_kelvin: 2_200 }, 2_000, 6_535],
] as const) {
  test(`the whites of a light with ${JSON.stringify(attributes)} are from ${min} to ${max} K`, () => {
    const white = capabilities("light", { ...FULL, ...attributes })["colorTemperature"];
    assert.deepEqual(white, { type: "number", min, max, unit: "K" });
  });
}

for (const [attributes, state] of [
  [{ brightness: 255 }, { brightness: 100 }],
  [{ color_temp_kelvin: 4_000 }, { colorTemperature: 4_000 }],
  [{ color_temp: 250 }, { colorTemperature: 4_000 }],
  [{ color_temp_kelvin: 1_000 }, { colorTemperature: 2_000 }],
  [{ color_temp_kelvin: 9_000 }, { colorTemperature: 6_535 }],
  [{ hs_color: [28.34, "64.86"] }, { color: { hue: 28.3, saturation: 64.9 } }],
  [{ hs_color: [28.34] }, {}],
  [{ hs_color: ["x", 64] }, {}],
  [{ hs_color: "red" }, {}],
  [{ brightness: null, hs_color: null }, {}],
] as const) {
  test(`a light with ${JSON.stringify(attributes)} shows ${JSON.stringify(state)}`, () => {
    const of = entity("light", "on", { ...FULL, ...attributes });
    assert.deepEqual(view(of).state, { on: true, ...state });
  });
}

test("effects are a choice", () => {
  const of = entity("light", "off", { effect_list: ["a", "b"], effect: "b" });

  assert.deepEqual(view(of).capabilities["effect"], { type: "choice", values: ["a", "b"] });
  assert.deepEqual(view(of).state, { on: false, effect: "b" });
});

for (const [command, call] of [
  [{ on: false, brightness: 50 }, ["light.turn_off"]],
  [{ on: true }, ["light.turn_on", {}]],
  [{ brightness: 100 }, ["light.turn_on", { brightness: 255 }]],
  [{ brightness: 0 }, ["light.turn_on", { brightness: 1 }]],
  [{ effect: "a" }, ["light.turn_on", { effect: "a" }]],
  [{ color: { hue: 7, saturation: 8 } }, ["light.turn_on", { hs_color: [7, 8] }]],
  [{ colorTemperature: 4_000 }, ["light.turn_on", { color_temp_kelvin: 4_000 }]],
  [
    { color: { hue: 7, saturation: 8 }, colorTemperature: 4_000 },
    ["light.turn_on", { color_temp_kelvin: 4_000 }],
  ],
  [
    { colorTemperature: 4_000, color: { hue: 7, saturation: 8 } },
    ["light.turn_on", { hs_color: [7, 8] }],
  ],
] as const) {
  test(`the command ${JSON.stringify(command)} calls ${call[0]} with ${JSON.stringify(call[1])}`, () => {
    assert.deepEqual(calls(lamp, command), [call]);
  });
}

test("a lamp that is off has reached nothing but being off, whatever it still shows", () => {
  const off = entity("light", "off", { ...FULL, brightness: 128 });

  assert.equal(isConfirmed({ brightness: 50 }, lamp, off), false);
  assert.equal(isConfirmed({ on: false }, lamp, off), true);
});

for (const [attributes, range] of [
  [{ min_color_temp_kelvin: 500, max_color_temp_kelvin: 20_000 }, [500, 20_000]],
  [{ min_color_temp_kelvin: 499, max_color_temp_kelvin: 6_000 }, [2_000, 6_535]],
  [{ min_color_temp_kelvin: 2_000, max_color_temp_kelvin: 20_001 }, [2_000, 6_535]],
  [{ min_color_temp_kelvin: 6_000, max_color_temp_kelvin: 2_000 }, [2_000, 6_535]],
  [{ min_mireds: 0, max_mireds: 500 }, [2_000, 6_535]],
] as const) {
  test(`whites of a light with ${JSON.stringify(attributes)} are from ${range.join(" to ")} K`, () => {
    const white = capabilities("light", { supported_color_modes: ["color_temp"], ...attributes });
    const [min, max] = range;
    assert.deepEqual(white["colorTemperature"], { type: "number", min, max, unit: "K" });
  });
}
