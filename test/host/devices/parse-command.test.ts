import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities, Device } from "@mantel/plugin-sdk/device";
import { OWN } from "@mantel/plugin-sdk/device-sections";
import { parseCommand } from "@mantel/plugin-sdk/parse-command";

const BRIGHTNESS = { type: "number", min: 0, max: 100 } as const;
const device = (capabilities: Capabilities) => ({ id: "demo:light:1", capabilities }) as Device;
const own = (to: Device, body: unknown) => parseCommand(to, body).get(OWN);
const LAMP = device({ on: { type: "boolean" }, brightness: BRIGHTNESS });

test("a brightness above 0 turns on unless the command says otherwise", () => {
  assert.deepEqual(own(LAMP, { brightness: 0.4 }), { on: true, brightness: 0.4 });
  assert.deepEqual(own(LAMP, { brightness: 5, on: false }), { on: false, brightness: 5 });
  assert.deepEqual(own(LAMP, { on: true }), { on: true });
});

test("a brightness of 0 turns off and sends no level", () => {
  assert.deepEqual(own(LAMP, { brightness: 0 }), { on: false });
  assert.deepEqual(own(LAMP, { brightness: 0, on: true }), { on: false });
});

test("a device without on and off gets only the level", () => {
  const without = device({ brightness: BRIGHTNESS });
  const readOnly = device({ on: { type: "boolean", readOnly: true }, brightness: BRIGHTNESS });

  assert.deepEqual(own(without, { brightness: 0 }), { brightness: 0 });
  assert.deepEqual(own(readOnly, { brightness: 9 }), { brightness: 9 });
});

test("a command must be a non-empty object", () => {
  for (const body of [{}, [], null, undefined, "on", 7, [{ on: true }]]) {
    assert.throws(() => parseCommand(LAMP, body), { code: "invalid" }, JSON.stringify(body));
  }
});

for (const [what, body, sentence] of [
  ["is not an object", "on", 'the whole value must be an object, such as {"on": true}'],
  ["is null", null, 'the whole value must be an object, such as {"on": true}'],
  ["is a list", [], 'the whole value must be an object, such as {"on": true}'],
  ["is empty", {}, "the whole value must have at least one capability of the device"],
  ["has a wrong value", { on: 1 }, "/on is 1; it must be true or false"],
] as const) {
  test(`a command that ${what} is refused with the reason`, () => {
    assert.throws(() => parseCommand(LAMP, body), {
      message: `the command to demo:light:1 is invalid: ${sentence}`,
    });
  });
}
