import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { effect } from "@preact/signals-core";
import { Store } from "../../../host/dashboard/store.ts";
import { deviceOf } from "../../helpers/device.ts";

test("a change of one device redraws only what reads that device", () => {
  const store = storeWith(lamp(1), lamp(2));
  const drawn: string[] = [];
  effect(() => void drawn.push(`1: ${store.device("demo:light:1").value?.state.on === true}`));
  effect(() => void drawn.push(`2: ${store.device("demo:light:2").value?.state.on === true}`));
  drawn.length = 0;

  store.putDevice(lamp(2, { revision: 2, state: { on: true } }));

  assert.deepEqual(drawn, ["2: true"]);
});

test("a list is reused while none of its devices changes", () => {
  const store = storeWith(lamp(1, { room: "Kitchen" }), lamp(2, { room: "Bath" }));
  const kitchen = store.devices({ room: "Kitchen" });
  let draws = 0;
  effect(() => {
    void kitchen.value;
    draws++;
  });

  store.putDevice(lamp(2, { room: "Bath", revision: 2 }));
  const unrelated = draws;
  store.putDevice(lamp(1, { room: "Kitchen", revision: 3 }));

  assert.equal(unrelated, 1);
  assert.equal(draws, 2);
});

test("a list is rebuilt only if its devices changed, and is shared by all callers", () => {
  const store = storeWith(lamp(1, { room: "Kitchen" }), lamp(2, { room: "Bath" }));
  const bath = store.devices({ room: "Bath" });
  const names = () => bath.value.map(({ id }) => id);
  const before = bath.value;

  store.putDevice(lamp(1, { room: "Kitchen", revision: 2 }));
  const unrelated = bath.value;
  store.putDevice(lamp(1, { room: "Bath", revision: 3 }));
  const moved = names();
  store.putDevice(lamp(2, { room: "Hall", revision: 4 }));

  assert.equal(unrelated, before);
  assert.equal(store.devices({ room: "Bath" }), bath);
  assert.deepEqual(moved, ["demo:light:1", "demo:light:2"]);
  assert.deepEqual(names(), ["demo:light:1"]);
});

test("devices are in the order of the last snapshot, new ones at the end", () => {
  const store = storeWith(lamp(1), lamp(2));
  void store.device("demo:light:3");
  store.putDevice(lamp(4));
  store.putDevice(lamp(3));
  const grown = store.devices().value.map(({ id }) => id);

  store.replaceDevices([lamp(3), lamp(1)]);

  assert.deepEqual(grown, ["demo:light:1", "demo:light:2", "demo:light:4", "demo:light:3"]);
  assert.deepEqual(
    store.devices().value.map(({ id }) => id),
    ["demo:light:3", "demo:light:1"],
  );
});

test("a device older than the one shown is ignored", () => {
  const store = storeWith(lamp(1, { revision: 5, state: { on: true } }));

  store.putDevice(lamp(1, { revision: 4, state: { on: false } }));

  assert.equal(store.device("demo:light:1").value?.state.on, true);
});

test("a requested value is pending until it is removed, whatever the host sends meanwhile", () => {
  const store = storeWith(lamp(1));
  const device = store.device("demo:light:1");

  store.setPending("demo:light:1", { on: true });
  store.putDevice(lamp(1, { revision: 2, pending: { brightness: 5 } }));
  const meanwhile = device.value?.pending;
  store.setPending("demo:light:1", {});

  assert.deepEqual(meanwhile, { brightness: 5, on: true });
  assert.deepEqual(device.value?.pending, { brightness: 5 });
});

test("a new snapshot replaces everything, also devices with a higher revision", () => {
  const store = storeWith(lamp(1, { revision: 9 }), lamp(2));

  store.replaceDevices([lamp(1, { revision: 1, state: { on: true } }), lamp(3)]);

  assert.equal(store.device("demo:light:1").value?.state.on, true);
  assert.deepEqual(
    store.devices().value.map(({ number }) => number),
    [1, 3],
  );
});

test("devices can be added and removed", () => {
  const store = storeWith(lamp(1));
  const all = store.devices({ kind: "light" });

  store.putDevice(lamp(2));
  store.removeDevice("demo:light:1");

  assert.deepEqual(
    all.value.map(({ number }) => number),
    [2],
  );
});

function storeWith(...devices: Device[]): Store {
  const store = new Store();
  store.replaceDevices(devices);
  return store;
}

function lamp(number: number, change: Partial<Device> = {}): Device {
  return deviceOf({ number, ...change });
}
