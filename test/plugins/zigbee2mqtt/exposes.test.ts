import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf, layoutOf } from "../../../plugins/zigbee2mqtt/device-layout.ts";
import { parseExposes } from "../../../plugins/zigbee2mqtt/exposes.ts";
import { valueAt, withValue } from "../../../plugins/zigbee2mqtt/feature.ts";

const featuresIn = (exposes: Parameters<typeof layoutOf>[0]) => layoutOf(exposes).features;

const [TOLD, SETTABLE, GETTABLE] = [1, 2, 4];

const exposed = (more: object) => ({ name: "x", property: "x", access: 7, ...more });

function featureOf(more: object) {
  const [feature, second] = featuresIn(parseExposes([exposed(more)]));
  assert.ok(feature && !second);
  return feature;
}

function featureOfLamp(more: object) {
  return featureOf({ type: "light", features: [exposed(more)] });
}

for (const kind of ["numeric", "color"] as const) {
  const find = (access: number) =>
    kind === "color"
      ? featureOfLamp({ type: "composite", name: "color_hs", access })
      : featureOf({ type: "numeric", access });

  test(`the access of a ${kind} says if it is reported, can be set and can be asked for`, () => {
    for (const access of [TOLD, SETTABLE, GETTABLE, TOLD + SETTABLE + GETTABLE]) {
      const feature = find(access);
      const isSettable = (access & SETTABLE) !== 0;

      assert.equal(feature.isTold, (access & TOLD) !== 0, `${access}`);
      assert.equal(feature.isGettable, (access & GETTABLE) !== 0, `${access}`);
      assert.equal(feature.write !== undefined, isSettable, `${access}`);
      assert.equal(feature.capability.readOnly ?? false, !isSettable, `${access}`);
    }
  });
}

test("an action is only reported, even if its definition says that it can be set", () => {
  const action = featureOf({ type: "enum", name: "action", values: ["single"] });

  assert.deepEqual(action.capability, { type: "text", readOnly: true });
  assert.equal(action.write, undefined);
  assert.equal(action.read("double"), "double");
});

test("an enumeration is a choice of its values, and without values a text", () => {
  const choice = featureOf({ type: "enum", values: ["a", 2, true, "a", null, {}] });

  assert.deepEqual(choice.capability, { type: "choice", values: ["a", "2", "true"] });
  assert.deepEqual(
    ["a", 2, true, "b", undefined].map((raw) => choice.read(raw)),
    ["a", "2", "true", null, null],
  );
  assert.deepEqual(featureOf({ type: "enum", values: [] }).capability, { type: "text" });
  assert.deepEqual(featureOf({ type: "enum", values: "a" }).capability, { type: "text" });
});

test("a switch is true and false by its own two values, and unknown by any other", () => {
  const plug = featureOf({ type: "binary", value_on: "ON", value_off: "OFF" });

  assert.deepEqual(["ON", "OFF", "on", undefined].map(plug.read), [true, false, null, null]);
  assert.deepEqual([plug.write?.(true), plug.write?.(false)], ["ON", "OFF"]);
});

test("a closed contact is true and an open one false, whatever its definition calls on", () => {
  const contact = featureOf({ type: "binary", name: "contact", value_on: "a", value_off: "b" });

  assert.deepEqual([true, false, undefined].map(contact.read), [null, null, null]);
  assert.deepEqual(["b", "a"].map(contact.read), [true, false]);
  const usual = featureOf({ type: "binary", name: "contact", value_on: false, value_off: true });
  assert.deepEqual([true, false, "a"].map(usual.read), [true, false, null]);
});

test("color_temp is a colour temperature only of a light, and brightness a share only there", () => {
  for (const name of ["color_temp", "brightness"]) {
    const number = { type: "numeric", name, value_min: 0, value_max: 500 };

    assert.equal(featureOf(number).read(250), 250);
    assert.notEqual(featureOfLamp(number).read(250), 250);
  }
  assert.equal(featureOfLamp({ type: "numeric", name: "effect_speed" }).read(250), 250);
});

test("a brightness is a share of the definition's maximum, also if that is 1", () => {
  const brightness = featureOfLamp({ type: "numeric", name: "brightness", value_max: 1 });

  assert.deepEqual(brightness.capability, { type: "number", min: 0, max: 100, unit: "%" });
  assert.deepEqual([0, 1, 2].map(brightness.read), [0, 100, null]);
});

test("a colour temperature is sent within the range of the lamp", () => {
  const range = { type: "numeric", name: "color_temp", value_min: 153, value_max: 500 };
  const white = featureOfLamp(range);

  assert.deepEqual(
    [white.write?.(20_000), white.write?.(4_000), white.write?.(1_000)],
    [153, 250, 500],
  );
  assert.deepEqual([152, 501, "warm", NaN].map(white.read), [null, null, null, null]);
  const fixed = featureOfLamp({ ...range, value_max: 153 });
  assert.deepEqual(fixed.capability, { type: "number", min: 6_536, max: 6_536, unit: "K" });
});

test("the bounds of a settable number hold for what it reports", () => {
  const valve = featureOf({ type: "numeric", value_min: 5, value_max: 30, value_step: 0.5 });

  assert.deepEqual(valve.capability, { type: "number", min: 5, max: 30, step: 0.5 });
  assert.deepEqual([4.9, 5, 30, 30.1, "7", NaN].map(valve.read), [null, 5, 30, null, null, null]);
});

test("a settable number may have one bound, or both alike", () => {
  const [least, most] = [
    featureOf({ type: "numeric", value_min: 5 }),
    featureOf({ type: "numeric", value_max: 5 }),
  ];

  assert.deepEqual(least.capability, { type: "number", min: 5 });
  assert.deepEqual([4, 5, 6].map(least.read), [null, 5, 6]);
  assert.deepEqual(most.capability, { type: "number", max: 5 });
  assert.deepEqual([4, 5, 6].map(most.read), [4, 5, null]);
  const fixed = featureOf({ type: "numeric", value_min: 5, value_max: 5 });
  assert.deepEqual(fixed.capability, { type: "number", min: 5, max: 5 });
});

for (const [what, more] of [
  ["that is only reported", { access: 1, value_min: 0, value_max: 1 }],
  ["whose least value is above its greatest", { value_min: 9, value_max: 1 }],
  [
    "whose bounds are not finite numbers",
    { value_min: "0", value_max: -Infinity, value_step: "1" },
  ],
  ["whose step is zero", { value_step: 0 }],
] as const) {
  test(`a number ${what} has no bounds`, () => {
    const number = featureOf({ type: "numeric", ...more });

    assert.deepEqual(
      { ...number.capability, readOnly: false },
      { type: "number", readOnly: false },
    );
    assert.deepEqual([-3, 7].map(number.read), [-3, 7]);
  });
}

for (const [told, value] of [
  ["words", "words"],
  [{ a: [1] }, '{"a":[1]}'],
  [7, "7"],
  [null, null],
  [undefined, null],
  ["x".repeat(2_000), "x".repeat(1_000)],
] as const) {
  test(`the text of ${JSON.stringify(told)?.slice(0, 20)} is ${JSON.stringify(value).slice(0, 20)}`, () => {
    assert.equal(featureOf({ type: "text" }).read(told), value);
  });
}

test("the parts of a composite may be set if the composite may, unless they say otherwise", () => {
  const parts = [
    { type: "numeric", name: "a", property: "a" },
    { type: "numeric", name: "b", property: "b", access: TOLD },
  ];
  const features = featuresIn(
    parseExposes([
      { ...exposed({ type: "composite", property: "led" }), access: SETTABLE, features: parts },
    ]),
  );

  assert.deepEqual(
    features.map(({ path, write, isTold }) => [path.join("/"), write !== undefined, isTold]),
    [
      ["led/a", true, false],
      ["led/b", false, true],
    ],
  );
});

test("a composite in a composite has the path of both, and one without parts is nothing", () => {
  const inner = exposed({
    type: "composite",
    property: "in",
    features: [exposed({ type: "numeric" })],
  });
  const outer = exposed({ type: "composite", property: "out", features: [inner] });

  assert.deepEqual(featuresIn(parseExposes([outer]))[0]?.path, ["out", "in", "x"]);
  assert.deepEqual(featuresIn(parseExposes([exposed({ type: "composite", features: [] })])), []);
});

test("a lamp with both colour formats reads and sets chromaticity", () => {
  const formats = ["color_hs", "color_xy"].map((name) =>
    exposed({ type: "composite", name, property: name }),
  );
  const color = featureOf({ type: "light", features: formats });

  assert.deepEqual(color.path, ["color_xy"]);
  assert.deepEqual(Object.keys(color.write?.({ hue: 0, saturation: 100 }) ?? {}), ["x", "y"]);
});

test("a lamp with hue and saturation only is set by them", () => {
  const color = featureOfLamp({ type: "composite", name: "color_hs" });

  assert.deepEqual(color.path, ["x"]);
  assert.deepEqual(color.write?.({ hue: 7, saturation: 80 }), { hue: 7, saturation: 80 });
});

for (const [raw, color] of [
  [
    { x: 0.64, y: 0.33, hue: 200, saturation: 10 },
    { hue: 0, saturation: 100 },
  ],
  [
    { x: 0.64, hue: 200.04, saturation: 10.06 },
    { hue: 200, saturation: 10.1 },
  ],
  [
    { y: 0.33, hue: 0, saturation: 0 },
    { hue: 0, saturation: 0 },
  ],
  [
    { hue: 360, saturation: 100 },
    { hue: 360, saturation: 100 },
  ],
  [{ hue: 361, saturation: 50 }, null],
  [{ hue: -1, saturation: 50 }, null],
  [{ hue: 50, saturation: 101 }, null],
  [{ hue: 50, saturation: -1 }, null],
  [{ hue: 50 }, null],
  [{ saturation: 50 }, null],
  [{ hue: "50", saturation: NaN }, null],
  [{ x: NaN, y: 0.3 }, null],
  [null, null],
] as const) {
  test(`the colour of ${JSON.stringify(raw)} is ${JSON.stringify(color)}`, () => {
    assert.deepEqual(featureOfLamp({ type: "composite", name: "color_xy" }).read(raw), color);
  });
}

for (const [type, kind] of [
  ["light", "light"],
  ["cover", "cover"],
  ["climate", "thermostat"],
  ["lock", "lock"],
  ["fan", "fan"],
] as const) {
  test(`a device with a ${type} is a ${kind}, whatever it measures before`, () => {
    assert.equal(kindOf(parseExposes([exposed({ type: "numeric" }), exposed({ type })])), kind);
  });
}

test("an entry that is not an object is left out, and what it has of a wrong type too", () => {
  const [only, second] = parseExposes([
    null,
    7,
    "x",
    [],
    { type: 7, name: "", property: "p", access: "7" },
  ]);

  assert.equal(second, undefined);
  assert.equal(only?.name, "p");
  assert.equal(only.type, "");
  assert.equal(only.access, 0);
  assert.deepEqual(parseExposes({ type: "light" }), []);
});

test("an entry with neither name nor property is not a feature", () => {
  assert.deepEqual(featuresIn(parseExposes([{ type: "numeric", access: 7 }])), []);
});

test("names of more than 200 characters are cut, and only the first 1,000 entries and values are read", () => {
  const many = Array.from({ length: 1_001 }, (_, at) => `${at}`);

  assert.equal(parseExposes([{ name: "x".repeat(201) }])[0]?.name.length, 200);
  assert.equal(parseExposes(many.map((name) => ({ name }))).length, 1_000);
  assert.equal(parseExposes([{ values: many }])[0]?.values.length, 1_000);
});

test("features are read to a depth of five", () => {
  const nested = (depth: number): object =>
    depth === 1
      ? exposed({ type: "numeric" })
      : exposed({ type: "composite", features: [nested(depth - 1)] });

  assert.equal(featuresIn(parseExposes([nested(5)])).length, 1);
  assert.equal(featuresIn(parseExposes([nested(6)])).length, 0);
});

for (const [payload, value] of [
  [{ a: { b: 7 } }, 7],
  [{ a: { b: null } }, null],
  [{ a: null }, undefined],
  [{ a: "text" }, undefined],
  [{ b: 7 }, undefined],
  [null, undefined],
  ["a", undefined],
] as const) {
  test(`the value at a/b of ${JSON.stringify(payload)} is ${value}`, () => {
    assert.equal(valueAt(payload, ["a", "b"]), value);
  });
}

test("a value is never read from what every object inherits", () => {
  assert.equal(valueAt({}, ["constructor", "name"]), undefined);
});

test("values of one composite are sent in one object", () => {
  const first = withValue({ state: "ON" }, ["led", "level"], 3);

  assert.deepEqual(withValue(first, ["led", "color", "x"], 7), {
    state: "ON",
    led: { level: 3, color: { x: 7 } },
  });
});
