import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DeviceDescription,
  type DeviceLists,
  type DeviceUpdate,
  PublishedDevices,
  type SceneDescription,
} from "@mantel/plugin-sdk";

const LAMP: DeviceDescription = {
  nativeId: "lamp",
  kind: "light",
  name: "Lamp",
  capabilities: { on: { type: "boolean" } },
  state: { on: false },
};
const SCENE: SceneDescription = { nativeId: "evening", name: "Evening" };

test("lists that change while the host refuses the ones before are published once more", async () => {
  const { bridge, host, published } = openBridge();
  const refuse = host.hold();
  const first = published.publish();
  bridge.lists = { devices: [LAMP], scenes: [] };
  const second = published.publish();
  const third = published.publish();

  refuse(new Error("refused"));

  await assert.rejects(first, /refused/);
  await Promise.all([second, third]);
  assert.deepEqual(host.lists, [[], ["lamp"]]);
});

test("a publication begins immediately, and its devices can be updated from then on", async () => {
  const { bridge, host, published } = openBridge();
  const refuse = host.hold();
  bridge.lists = { devices: [LAMP], scenes: [] };
  published.update({ nativeId: "lamp", available: false });

  const publication = published.publish();

  assert.deepEqual(host.lists, [["lamp"]]);
  published.update({ nativeId: "lamp", available: true }, { nativeId: "other", available: true });
  assert.deepEqual(host.updates, [{ nativeId: "lamp", available: true }]);
  refuse(new Error("refused"));
  await assert.rejects(publication, /refused/);
  await published.publish();
});

test("an update of unknown devices alone does not reach the host", async () => {
  const { host, published } = openBridge();
  let calls = 0;
  const { update } = host;
  host.update = (...updates) => {
    calls += 1;
    update(...updates);
  };
  await published.publish();

  published.update({ nativeId: "other", available: true });

  assert.equal(calls, 0);
});

test("a publication after a finished one begins immediately", async () => {
  const { bridge, host, published } = openBridge();
  await published.publish();
  bridge.lists = { devices: [LAMP], scenes: [] };
  const publication = published.publish();

  assert.deepEqual(host.lists, [[], ["lamp"]]);
  await publication;
});

test("scenes are published if they differ from those that the host accepted", async () => {
  const { bridge, host, published } = openBridge();
  bridge.lists = { devices: [LAMP], scenes: undefined };
  await published.publish();
  assert.deepEqual(host.scenes, []);

  bridge.lists = { devices: [LAMP], scenes: [SCENE] };
  await published.publish();
  await published.publish();
  bridge.lists = { devices: [LAMP], scenes: [] };
  await published.publish();

  assert.deepEqual(host.scenes, [["evening"], []]);
});

test("scenes that the host refused are published again, and reach it without the devices", async () => {
  const { bridge, host, published } = openBridge();
  bridge.lists = { devices: [LAMP], scenes: [SCENE] };
  host.refuses = true;
  await assert.rejects(published.publish(), /refused/);
  host.refuses = false;

  await published.publish();

  assert.deepEqual(host.scenes, [["evening"], ["evening"]]);
});

/** A bridge without devices, and the lists that the host was asked to take. */
test("a report that comes while a long list waits to be sent follows it", async () => {
  const { bridge, host, published } = openBridge();
  const devices = Array.from({ length: 501 }, (_, at) => ({ ...LAMP, nativeId: `lamp-${at}` }));
  bridge.lists = { devices, scenes: [] };

  const done = published.publish();
  published.update({ nativeId: "lamp-500", state: { on: true } });
  published.event("lamp-500", "press");
  assert.deepEqual([host.lists, host.updates, host.events], [[], [], []]);
  await done;

  assert.equal(host.lists[0]?.length, 501);
  assert.deepEqual(host.updates, [{ nativeId: "lamp-500", state: { on: true } }]);
  assert.deepEqual(host.events, ["lamp-500 press"]);
});

function openBridge() {
  const bridge: { lists: DeviceLists } = { lists: { devices: [], scenes: [] } };
  let held = Promise.resolve();
  const host = {
    lists: [] as string[][],
    scenes: [] as string[][],
    updates: [] as DeviceUpdate[],
    events: [] as string[],
    update: (...updates: readonly DeviceUpdate[]) => void host.updates.push(...updates),
    refuses: false,
    /** Lets the next list of devices wait. Returns a function that refuses it. */
    hold() {
      let refuse: (reason: Error) => void = () => undefined;
      held = new Promise((_, reject) => (refuse = reject));
      return refuse;
    },
  };
  const take = async (into: string[][], list: readonly { readonly nativeId: string }[]) => {
    into.push(list.map(({ nativeId }) => nativeId));
    if (host.refuses) throw new Error("refused");
  };
  const published = new PublishedDevices(
    {
      devices: {
        publish: async (devices) => {
          const wait = held;
          held = Promise.resolve();
          await take(host.lists, devices);
          await wait;
        },
        update: (...updates) => host.update(...updates),
        event: (nativeId, event) => void host.events.push(`${nativeId} ${event}`),
      },
      scenes: { publish: (scenes) => take(host.scenes, scenes) },
    },
    () => bridge.lists,
  );
  return { bridge, host, published };
}
