import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfState } from "@mantel/plugin-sdk/capability";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { capabilitiesOf, inventoryIn, lamp, listed } from "./definitions.ts";

test("values out of range are unknown and counted, without affecting other values", () => {
  const unusable: string[] = [];
  const home = new DeviceStore([], true, (where) => unusable.push(where));
  home.take(inventoryIn([listed(lamp)], []));
  const [thing] = home.things;
  assert.ok(thing);

  const { state } = home.tell(thing, {
    state: "MAYBE",
    brightness: 300,
    color_temp: "warm",
    color: 7,
  });

  assert.deepEqual(state, { on: null, brightness: null, colorTemperature: null, color: null });
  assert.deepEqual(faultsOfState(capabilitiesOf(lamp), state), []);
  assert.equal(unusable.length, 4);
});

for (const [color_mode, color, colorTemperature] of [
  ["color_temp", null, 2_703],
  ["xy", { hue: 0, saturation: 0 }, null],
  ["hs", { hue: 0, saturation: 0 }, null],
] as const) {
  test(`a light with color_mode ${color_mode} shows a colour or a white, and not both`, () => {
    const home = new DeviceStore([], true, assert.fail);
    home.take(inventoryIn([listed(lamp)], []));
    const [thing] = home.things;
    assert.ok(thing);

    const told = { color_temp: 370, color: { hue: 0, saturation: 0 }, color_mode };
    assert.deepEqual(home.tell(thing, told).state, { colorTemperature, color });
  });
}

test("remembered values that the device's list no longer allows are forgotten", () => {
  const before = new DeviceStore([], true, () => undefined);
  before.take(inventoryIn([listed(lamp)], []));
  const [remembered] = before.remember();
  assert.ok(remembered);
  const state = { on: true, brightness: 300, colorTemperature: "warm", effect: "explode", gone: 1 };

  const home = new DeviceStore([{ ...remembered, state }], true, () => undefined);
  home.take(inventoryIn([listed(lamp)], []));

  assert.deepEqual(home.describe()[0]?.state, { on: true });
});
