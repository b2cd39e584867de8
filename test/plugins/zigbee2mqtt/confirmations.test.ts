import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommandBeyond, DeviceCommand } from "@mantel/plugin-sdk";
import { confirmsAll, expectedOf } from "../../../plugins/zigbee2mqtt/confirmations.ts";
import { inventoryIn, lamp, listed } from "./definitions.ts";

const SETTABLE = 7;

function thingOf(...exposes: object[]) {
  const [thing] = inventoryIn([listed({ vendor: "v", model: "m", exposes })], []).things;
  assert.ok(thing);
  return thing;
}

/** True if a payload confirms the value that was set to something with this definition. */
function isConfirmed(expose: object, value: number | string | object, payload: unknown): boolean {
  const exposed = { property: "x", name: "x", access: SETTABLE, ...expose };
  const thing = thingOf(exposed);
  const [name = ""] = thing.features.map((each) => each.name);
  const command = { [name]: value } as DeviceCommand;
  const expected = expectedOf(thing, command, { parts: {}, extra: command });
  assert.ok(expected.length > 0);
  return confirmsAll(expected)(payload);
}

/** The same for one feature of a light. */
function isLampConfirmed(feature: object, value: number | object, payload: object): boolean {
  const exposed = { property: "x", name: "x", access: SETTABLE, ...feature };
  return isConfirmed({ type: "light", features: [exposed] }, value, payload);
}

const exposedState = {
  type: "binary",
  name: "state",
  property: "state",
  access: SETTABLE,
  value_on: "ON",
  value_off: "OFF",
};
const exposedLevel = { type: "numeric", name: "brightness", property: "brightness", access: 7 };
const mode = {
  type: "enum",
  name: "mode",
  property: "fan_mode",
  access: SETTABLE,
  values: ["low", "high"],
};

const lampThing = thingOf(...lamp.exposes);
const names = (command: Parameters<typeof expectedOf>[1]) =>
  expectedOf(lampThing, command).map(({ feature, written }) => [feature.name, written]);

test("a lamp that is switched off is sent no level, and one that is switched on is", () => {
  assert.deepEqual(names({ on: false, brightness: 50 }), [["on", "OFF"]]);
  assert.deepEqual(names({ on: false, colorTemperature: 4_000 }).length, 2);
  assert.deepEqual(names({ on: true, brightness: 50 }), [
    ["on", "ON"],
    ["brightness", 127],
  ]);
  assert.deepEqual(names({ brightness: 50 }), [["brightness", 127]]);
});

test("values that a device lacks or only reports are not sent", () => {
  const meter = thingOf({ type: "numeric", name: "power", property: "power", access: 1 });

  assert.deepEqual(expectedOf(meter, { power: 3, other: true }), []);
});

test("a command is confirmed when every value was reported, in one payload or in several", () => {
  const confirms = confirmsAll(expectedOf(lampThing, { on: true, brightness: 50 }));

  assert.equal(confirms({ brightness: 3, state: "OFF" }), false);
  assert.equal(confirms({ state: "ON" }), false);
  assert.equal(confirms({ state: "OFF", brightness: 127 }), true);
});

for (const [payload, is] of [
  [{ x: 21.5 }, true],
  [{ x: 21 }, false],
  [{ x: null }, false],
  [{}, false],
  ["x", false],
  [null, false],
] as const) {
  test(`21.5 is ${is ? "" : "not "}confirmed by ${JSON.stringify(payload)}`, () => {
    assert.equal(isConfirmed({ type: "numeric" }, 21.5, payload), is);
  });
}

test("zero is not confirmed by a value that is missing", () => {
  assert.equal(isConfirmed({ type: "numeric" }, 0, { x: null }), false);
  assert.equal(isConfirmed({ type: "numeric" }, 0, { x: 0 }), true);
});

test("a text is confirmed by itself only", () => {
  assert.equal(isConfirmed({ type: "text" }, "words", { x: "words" }), true);
  assert.equal(isConfirmed({ type: "text" }, "words", { x: "other" }), false);
});

test("a number is confirmed by one that is at most half a step away", () => {
  const stepped = { type: "numeric", value_step: 1 };

  assert.equal(isConfirmed(stepped, 20, { x: 20.5 }), true);
  assert.equal(isConfirmed(stepped, 20, { x: 19.5 }), true);
  assert.equal(isConfirmed(stepped, 20, { x: 20.6 }), false);
});

test("a brightness is confirmed by one that is at most one level away", () => {
  const brightness = { type: "numeric", name: "brightness", value_min: 0, value_max: 254 };

  assert.equal(isLampConfirmed(brightness, 50, { x: 128 }), true);
  assert.equal(isLampConfirmed(brightness, 50, { x: 126 }), true);
  assert.equal(isLampConfirmed(brightness, 50, { x: 129 }), false);
});

test("a colour temperature is confirmed by one that is at most one mired away", () => {
  const white = { type: "numeric", name: "color_temp", value_min: 153, value_max: 500 };

  assert.equal(isLampConfirmed(white, 4_000, { x: 251 }), true);
  assert.equal(isLampConfirmed(white, 4_000, { x: 249 }), true);
  assert.equal(isLampConfirmed(white, 4_000, { x: 252 }), false);
});

test("a choice is confirmed by its own text, also by a number that reads like it", () => {
  const choice = { type: "enum", values: ["1", "2"] };

  assert.equal(isConfirmed(choice, "1", { x: "1" }), true);
  assert.equal(isConfirmed(choice, "1", { x: 1 }), true);
  assert.equal(isConfirmed(choice, "1", { x: "2" }), false);
});

test("the commands of a cover are sent as its words, and confirmed by any report", () => {
  const state = { type: "enum", name: "state", property: "x", access: SETTABLE };
  const cover = { type: "cover", features: [{ ...state, values: ["OPEN", "CLOSE", "STOP"] }] };

  for (const name of ["open", "close", "stop"]) {
    const [only] = expectedOf(thingOf(cover), { [name]: true });
    assert.equal(only?.written, name.toUpperCase());
    assert.equal(only.feature.isConfirmedByAny, true);
  }
});

test("a value from before a command does not confirm it, also one that is near", () => {
  const color = { type: "composite", name: "color_hs", property: "x", access: SETTABLE };
  const thing = thingOf({ type: "light", features: [color] });
  const before = { state: { color: { hue: 120, saturation: 50 } }, parts: {}, extra: {} };
  const expected = expectedOf(
    thing,
    { color: { hue: 118, saturation: 50 } },
    { parts: {}, extra: {} },
    before,
  );
  const confirms = confirmsAll(expected);

  assert.equal(confirms({ x: { hue: 120, saturation: 50 } }), false);
  assert.equal(confirms({ x: { hue: 119, saturation: 50 } }), true);
});

test("a command of a part does not reach another, nor the device itself", () => {
  const gang = (endpoint: string) => ({
    type: "switch",
    endpoint,
    features: [
      {
        type: "binary",
        name: "state",
        property: `state_${endpoint}`,
        endpoint,
        access: 7,
        value_on: "ON",
        value_off: "OFF",
      },
    ],
  });
  const fan = { type: "fan", features: [{ ...exposedState, property: "fan_state" }, mode] };
  const light = { type: "light", features: [exposedState, exposedLevel] };
  const written = (exposes: object[], command: DeviceCommand, parts: CommandBeyond["parts"]) =>
    expectedOf(thingOf(...exposes), command, { parts, extra: {} }).map(
      ({ feature, written: to }) => [...feature.path, to],
    );

  assert.deepEqual(written([gang("l1"), gang("l2")], {}, { l2: { on: true } }), [
    ["state_l2", "ON"],
  ]);
  assert.deepEqual(written([gang("l1"), gang("l2")], { on: true }, {}), []);
  assert.deepEqual(written([fan, light], {}, { light: { brightness: 50 } }), [["brightness", 127]]);
  assert.deepEqual(written([fan, light], { on: true }, { light: { on: false, brightness: 9 } }), [
    ["fan_state", "ON"],
    ["state", "OFF"],
  ]);
  assert.deepEqual(written([fan, light], { on: false, speed: 50 }, { light: { brightness: 50 } }), [
    ["fan_state", "OFF"],
    ["brightness", 127],
  ]);
});

// Pure red is at 0.64, 0.33.
for (const [xy, is] of [
  [{ x: 0.64, y: 0.33 }, true],
  [{ x: 0.647, y: 0.337 }, true],
  [{ x: 0.633, y: 0.323 }, true],
  [{ x: 0.66, y: 0.33 }, false],
  [{ x: 0.64, y: 0.35 }, false],
  [{}, false],
] as const) {
  test(`red is ${is ? "" : "not "}confirmed by ${JSON.stringify(xy)}`, () => {
    const color = { type: "composite", name: "color_xy", features: [] };

    assert.equal(isLampConfirmed(color, { hue: 0, saturation: 100 }, { x: xy }), is);
  });
}

for (const [asked, told, is] of [
  [{ hue: 120, saturation: 80 }, { hue: 123, saturation: 77 }, true],
  [{ hue: 120, saturation: 80 }, { hue: 117, saturation: 83 }, true],
  [{ hue: 120, saturation: 80 }, { hue: 124, saturation: 80 }, false],
  [{ hue: 120, saturation: 80 }, { hue: 120, saturation: 84 }, false],
  [{ hue: 1, saturation: 80 }, { hue: 359, saturation: 80 }, true],
  [{ hue: 0, saturation: 80 }, { hue: 360, saturation: 80 }, true],
  [{ hue: 120, saturation: 3 }, { hue: 300, saturation: 0 }, true],
  [{ hue: 120, saturation: 4 }, { hue: 300, saturation: 4 }, false],
  [{ hue: 120, saturation: 80 }, {}, false],
] as const) {
  test(`hue and saturation ${JSON.stringify(asked)} are ${is ? "" : "not "}confirmed by ${JSON.stringify(told)}`, () => {
    const color = { type: "composite", name: "color_hs", features: [] };

    assert.equal(isLampConfirmed(color, asked, { x: told }), is);
  });
}
