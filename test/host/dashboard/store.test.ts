import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { effect } from "@preact/signals-core";
import type { ModuleView } from "../../../host/api/module.ts";
import { setLocale } from "../../../host/dashboard/i18n/language.ts";
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

test("a list has the devices of its kind and room that are not hidden", () => {
  const store = storeWith(
    lamp(1, { room: "Kitchen" }),
    lamp(2, { room: "Bath" }),
    lamp(3, { room: "Kitchen", hidden: true }),
    lamp(4, { room: "Kitchen", hidden: false }),
    deviceOf({ kind: "plug", number: 5, room: "Kitchen" }),
  );
  const numbers = (query?: Parameters<Store["devices"]>[0]) =>
    store.devices(query).value.map(({ number }) => number);

  assert.deepEqual(numbers(), [1, 2, 4, 5]);
  assert.deepEqual(numbers({ kind: "light" }), [1, 2, 4]);
  assert.deepEqual(numbers({ room: "Kitchen" }), [1, 4, 5]);
  assert.deepEqual(numbers({ kind: "light", room: "Kitchen" }), [1, 4]);
});

test("the list of all devices has hidden ones too, and is shared by all callers", () => {
  const store = storeWith(lamp(1), lamp(2, { hidden: true }));

  assert.deepEqual(
    store.allDevices().value.map(({ number }) => number),
    [1, 2],
  );
  assert.equal(store.allDevices(), store.allDevices());
  assert.notEqual(store.allDevices(), store.devices());
});

test("a device that a new snapshot lacks disappears, also from the tiles that show it", () => {
  const store = storeWith(lamp(1), lamp(2));
  const gone = store.device("demo:light:2");
  const kept = store.device("demo:light:1");

  store.replaceDevices([lamp(1, { name: "New name" })]);

  assert.equal(gone.value, undefined);
  assert.equal(kept, store.device("demo:light:1"));
  assert.equal(kept.value?.name, "New name");
});

test("a device that returns after a snapshot without it is shown where it was shown before", () => {
  const store = storeWith(lamp(1));
  const shown = store.device("demo:light:1");
  store.replaceDevices([]);

  store.putDevice(lamp(1, { revision: 2 }));

  assert.equal(shown.value?.revision, 2);
  assert.equal(store.devices().value.length, 1);
});

test("a snapshot draws once, however many devices it changes", () => {
  const store = storeWith(lamp(1), lamp(2));
  const all = store.devices();
  const drawn: number[] = [];
  effect(() => void drawn.push(all.value.length));

  store.replaceDevices([lamp(2), lamp(3), lamp(4)]);

  assert.deepEqual(drawn, [2, 3]);
});

test("a device of the same revision replaces the one shown, as after a new name", () => {
  const store = storeWith(lamp(1));

  store.putDevice(lamp(1, { name: "New name" }));

  assert.equal(store.device("demo:light:1").value?.name, "New name");
});

test("without requested values the device is the host's own, pending values included", () => {
  const device = lamp(1, { pending: { on: true } });
  const store = storeWith(device);

  assert.equal(store.device(device.id).value, device);
});

test("a requested value of an unknown device is pending as soon as the device is known", () => {
  const store = new Store();
  const shown = store.device("demo:light:1");

  store.setPending("demo:light:1", { on: true });
  const before = shown.value;
  store.putDevice(lamp(1));

  assert.equal(before, undefined);
  assert.deepEqual(shown.value?.pending, { on: true });
});

test("before the first answer of the host there is no layout, no setting, no device and no module", () => {
  const store = new Store();

  assert.equal(store.layout.value, undefined);
  assert.deepEqual(store.ui.value, {});
  assert.deepEqual([store.devices().value, store.modules().value], [[], []]);
  assert.equal(store.module("clock").value, undefined);
});

test("modules are listed by name, each with its last state", () => {
  const store = new Store();
  store.replaceModules([module("b", "Weather"), module("a", "Clock")]);
  const names = () => store.modules().value.map(({ name, state }) => `${name} ${state}`);
  const first = names();

  store.putModule(module("c", "Agenda"));
  store.putModule(module("b", "Weather", "failed"));

  assert.deepEqual(first, ["Clock active", "Weather active"]);
  assert.deepEqual(names(), ["Agenda active", "Clock active", "Weather failed"]);
});

test("a module has its name in the current language, and its own without a translation", (t) => {
  const store = new Store();
  const titles = { de: "Wetter" };
  store.replaceModules([{ ...module("b", "Weather"), titles }, module("a", "Clock")]);
  const names = () => store.modules().value.map(({ name }) => name);
  t.after(() => setLocale("en"));

  const english = names();
  setLocale("de-AT");
  const german = names();
  setLocale("fr");

  assert.deepEqual(
    [english, german, names()],
    [
      ["Clock", "Weather"],
      ["Clock", "Wetter"],
      ["Clock", "Weather"],
    ],
  );
});

test("a removed module disappears from the list and from what shows it, until it is there again", () => {
  const store = new Store();
  store.replaceModules([module("a", "Clock"), module("b", "Weather")]);
  const shown = store.module("a");
  const list = store.modules();

  store.removeModule("a");
  const removed = [shown.value, list.value.length];
  store.putModule(module("a", "Clock"));

  assert.deepEqual(removed, [undefined, 1]);
  assert.equal(shown.value?.name, "Clock");
  assert.equal(list.value.length, 2);
});

test("a new snapshot of the modules replaces all of them, and draws once", () => {
  const store = new Store();
  store.replaceModules([module("a", "Clock"), module("b", "Weather")]);
  const shown = store.module("a");
  const list = store.modules();
  const drawn: string[] = [];
  effect(() => void drawn.push(list.value.map(({ id }) => id).join()));

  store.replaceModules([module("b", "Weather"), module("c", "Agenda"), module("d", "Note")]);

  assert.equal(shown.value, undefined);
  assert.deepEqual(drawn, ["a,b", "c,d,b"]);
});

function storeWith(...devices: Device[]): Store {
  const store = new Store();
  store.replaceDevices(devices);
  return store;
}

function lamp(number: number, change: Partial<Device> = {}): Device {
  return deviceOf({ number, ...change });
}

function module(id: string, name: string, state: ModuleView["state"] = "active"): ModuleView {
  return { id, name, state } as ModuleView;
}
