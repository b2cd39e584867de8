import assert from "node:assert/strict";
import { test } from "node:test";
import {
  follows,
  lightBody,
  lightCapabilities,
  lightState,
} from "../../../plugins/hue/convert-light.ts";
import type { Resource } from "../../../plugins/hue/resources.ts";

const light = (fields: object): Resource => ({ id: "l", type: "light", ...fields });
const stateOf = (fields: object) => lightState(light(fields), lightCapabilities([light(fields)]));
const white = (mirek_minimum: unknown, mirek_maximum: unknown) => ({
  color_temperature: { mirek_schema: { mirek_minimum, mirek_maximum } },
});
const effects = (status: string, effect_values: unknown) => ({
  effects: { status, effect_values },
});

for (const [fields, min, max] of [
  [white(153, 500), 2_000, 6_536],
  [white(200, 400), 2_500, 5_000],
  [{ color_temperature: {} }, 2_000, 6_536],
  [white(0, 400), 2_000, 6_536],
  [white(400, 400), 2_000, 6_536],
  [white(500, 400), 2_000, 6_536],
] as const) {
  test(`the whites of a light with ${JSON.stringify(fields)} are from ${min} to ${max} K`, () => {
    assert.deepEqual(lightCapabilities([light(fields)]), {
      colorTemperature: { type: "number", min, max, step: 1, unit: "K" },
    });
  });
}

test("a group has what any of its lights has, and the whites that all of them have", () => {
  const lights = [
    light({ on: {}, ...white(200, 400) }),
    light({ dimming: {}, ...white(153, 300) }),
    light({ color: {} }),
  ];

  assert.deepEqual(lightCapabilities(lights), {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
    colorTemperature: { type: "number", min: 2_500, max: 6_536, step: 1, unit: "K" },
    color: { type: "color" },
  });
});

for (const [values, choices] of [
  [
    ["no_effect", "candle"],
    ["no_effect", "candle"],
  ],
  [["candle", "candle", 7, "", "x".repeat(61)], ["candle"]],
  [["x".repeat(60)], ["x".repeat(60)]],
  [Array.from({ length: 51 }, (_, at) => `${at}`), Array.from({ length: 50 }, (_, at) => `${at}`)],
] as const) {
  test(`of the effects ${JSON.stringify(values).slice(0, 50)} a light has ${choices.length}`, () => {
    const found = lightCapabilities([light(effects("", values))]);
    assert.deepEqual(found, { effect: { type: "choice", values: choices } });
  });
}

test("a group, and a light without a list of effects, has none", () => {
  const candle = light(effects("candle", ["candle"]));

  assert.deepEqual(lightCapabilities([candle, candle]), {});
  assert.deepEqual(lightCapabilities([light(effects("candle", "candle"))]), {});
  assert.deepEqual(lightCapabilities([light(effects("candle", []))]), {});
});

for (const [fields, state] of [
  [{ on: { on: true } }, { on: true }],
  [{ on: { on: "yes" } }, { on: null }],
  [{ dimming: { brightness: 46.85 } }, { brightness: 47 }],
  [{ dimming: { brightness: 0.2 } }, { brightness: 1 }],
  [{ dimming: { brightness: 0 } }, { brightness: 0 }],
  [{ dimming: { brightness: 120 } }, { brightness: 100 }],
  [{ dimming: {} }, { brightness: null }],
  [{ color_temperature: { mirek: 250, mirek_valid: true } }, { colorTemperature: 4_000 }],
  [{ color_temperature: { mirek: 250, mirek_valid: false } }, { colorTemperature: null }],
  [{ color_temperature: { mirek: null, mirek_valid: true } }, { colorTemperature: null }],
  [{ color_temperature: { mirek: 100, mirek_valid: true } }, { colorTemperature: 6_536 }],
  [{ color_temperature: { mirek: 900, mirek_valid: true } }, { colorTemperature: 2_000 }],
  [{ color: { xy: { x: 0.64, y: 0.33 } } }, { color: { hue: 0, saturation: 100 } }],
  [{ color: { xy: { x: 0.64 } } }, { color: null }],
  [{ color: { xy: { y: 0.64 } } }, { color: null }],
  [effects("candle", ["candle"]), { effect: "candle" }],
  [effects("fire", ["candle"]), { effect: null }],
] as const) {
  test(`a light with ${JSON.stringify(fields)} is ${JSON.stringify(state)}`, () => {
    assert.deepEqual(stateOf(fields), state);
  });
}

test("a light whose mirek is null shows its colour, also if the bridge calls the mirek valid", () => {
  const color = { xy: { x: 0.64, y: 0.33 } };
  const state = stateOf({ color, color_temperature: { mirek: null, mirek_valid: true } });

  assert.deepEqual(state, { color: { hue: 0, saturation: 100 }, colorTemperature: null });
});

test("a light that shines white shows no colour", () => {
  const color = { xy: { x: 0.64, y: 0.33 } };
  const state = stateOf({ color, color_temperature: { mirek: 250, mirek_valid: true } });

  assert.deepEqual(state, { color: null, colorTemperature: 4_000 });
});

const GAMUT = {
  red: { x: 0.6915, y: 0.3083 },
  green: { x: 0.17, y: 0.7 },
  blue: { x: 0.1532, y: 0.0475 },
};

for (const [command, body] of [
  [
    { on: true, brightness: 50 },
    { on: { on: true }, dimming: { brightness: 50 } },
  ],
  [{ on: false, brightness: 50 }, { on: { on: false } }],
  [{ brightness: 50 }, { dimming: { brightness: 50 } }],
  [{ colorTemperature: 4_000 }, { color_temperature: { mirek: 250 } }],
  [{ colorTemperature: 9_000 }, { color_temperature: { mirek: 200 } }],
  [{ colorTemperature: 1_000 }, { color_temperature: { mirek: 400 } }],
  [{ color: { hue: 0, saturation: 100 } }, { color: { xy: { x: 0.64, y: 0.33 } } }],
  [
    { color: { hue: 0, saturation: 100 }, colorTemperature: 4_000 },
    { color: { xy: { x: 0.64, y: 0.33 } } },
  ],
  [{ effect: "candle" }, { effects: { effect: "candle" } }],
] as const) {
  test(`the command ${JSON.stringify(command)} is sent as ${JSON.stringify(body)}`, () => {
    assert.deepEqual(lightBody(light(white(200, 400)), command), body);
  });
}

test("a colour is sent as the nearest one that the light can show", () => {
  const small = { red: { x: 0.5, y: 0.3 }, green: { x: 0.3, y: 0.5 }, blue: { x: 0.2, y: 0.2 } };
  const sent = (gamut: object) =>
    lightBody(light({ color: { gamut } }), { color: { hue: 0, saturation: 100 } });

  assert.deepEqual(sent(GAMUT), { color: { xy: { x: 0.64, y: 0.33 } } });
  assert.deepEqual(sent(small), { color: { xy: { x: 0.5, y: 0.3 } } });
  for (const name of ["red", "green", "blue"]) {
    assert.deepEqual(sent({ ...small, [name]: {} }), { color: { xy: { x: 0.64, y: 0.33 } } });
  }
});

const SHOWN = {
  on: { on: true },
  dimming: { brightness: 50 },
  color_temperature: { mirek: 250 },
  color: { xy: { x: 0.4, y: 0.3 } },
  effects: { status: "candle" },
};

for (const [body, is] of [
  [{}, true],
  [{ on: { on: true } }, true],
  [{ on: { on: false } }, false],
  [{ dimming: { brightness: 51 } }, true],
  [{ dimming: { brightness: 49 } }, true],
  [{ dimming: { brightness: 51.1 } }, false],
  [{ color_temperature: { mirek: 252 } }, true],
  [{ color_temperature: { mirek: 248 } }, true],
  [{ color_temperature: { mirek: 253 } }, false],
  [{ color: { xy: { x: 0.419, y: 0.3 } } }, true],
  [{ color: { xy: { x: 0.421, y: 0.3 } } }, false],
  [{ color: { xy: { x: 0.4, y: 0.321 } } }, false],
  [{ effects: { effect: "candle" } }, true],
  [{ effects: { effect: "fire" } }, false],
  [{ on: { on: true }, dimming: { brightness: 90 } }, false],
] as const) {
  test(`a light ${is ? "follows" : "does not follow"} ${JSON.stringify(body)}`, () => {
    assert.equal(follows(light(SHOWN), body), is);
  });
}

for (const body of [
  { on: { on: true } },
  { dimming: { brightness: 0 } },
  { color_temperature: { mirek: 1 } },
  { color: { xy: { x: 0, y: 0 } } },
  { effects: { effect: "candle" } },
]) {
  test(`a light that reports nothing does not follow ${JSON.stringify(body)}`, () => {
    assert.equal(follows(light({}), body), false);
    assert.equal(follows(undefined, body), false);
  });
}

for (const [body, is] of [
  [{ dimming: { brightness: 50.19 } }, true],
  [{ dimming: { brightness: 50.3 } }, false],
  [{ dimming: { brightness: 49.7 } }, false],
  [{ color_temperature: { mirek: 250 } }, true],
  [{ color_temperature: { mirek: 251 } }, false],
  [{ color: { xy: { x: 0.4001, y: 0.3 } } }, true],
  [{ color: { xy: { x: 0.41, y: 0.3 } } }, false],
  [{ on: { on: true } }, true],
  [{ effects: { effect: "candle" } }, true],
] as const) {
  test(`the old state of a light ${is ? "confirms" : "does not confirm"} ${JSON.stringify(body)}`, () => {
    assert.equal(follows(light(SHOWN), body, light(SHOWN)), is);
  });
}

test("a new state confirms a value if it is closer than the old one", () => {
  const before = light(SHOWN);
  const at = (brightness: number) => light({ ...SHOWN, dimming: { brightness } });

  assert.equal(follows(at(50.6), { dimming: { brightness: 51 } }, before), true);
  assert.equal(follows(at(49.9), { dimming: { brightness: 51 } }, before), false);
  assert.equal(follows(at(52), { dimming: { brightness: 51 } }, before), false);
});

test("a white that is not valid confirms nothing", () => {
  const colored = light({ color_temperature: { mirek: 250, mirek_valid: false } });

  assert.equal(follows(colored, { color_temperature: { mirek: 250 } }), false);
});

test("of a group only being on is compared, because it reports no more", () => {
  const group = { id: "g", type: "grouped_light", on: { on: true } };
  const rest = { dimming: { brightness: 9 }, color: { xy: { x: 0, y: 0 } } };

  assert.equal(follows(group, { on: { on: true }, ...rest }), true);
  assert.equal(follows(group, rest), true);
  assert.equal(follows(group, { on: { on: false } }), false);
});
