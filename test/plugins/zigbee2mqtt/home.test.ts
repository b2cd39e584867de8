import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfState } from "../../../host/devices/capability.ts";
import { inventoryOf } from "../../../plugins/zigbee2mqtt/discovery.ts";
import { Home } from "../../../plugins/zigbee2mqtt/home.ts";
import { capabilitiesOf, lamp, listed } from "./definitions.ts";

test("values outside of what they may be are not known, and take nothing along, and are counted", () => {
  const unusable: string[] = [];
  const home = new Home([], true, (where) => unusable.push(where));
  home.take(inventoryOf([listed(lamp)], []));
  const [thing] = home.things;
  assert.ok(thing);

  const state = home.tell(thing, { state: "MAYBE", brightness: 300, color_temp: "warm", color: 7 });

  assert.deepEqual(state, { on: null, brightness: null, colorTemperature: null, color: null });
  assert.deepEqual(faultsOfState(capabilitiesOf(lamp), state), []);
  assert.equal(unusable.length, 4);
});
