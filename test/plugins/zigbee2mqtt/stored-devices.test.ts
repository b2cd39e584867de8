import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DeviceStore } from "../../../plugins/zigbee2mqtt/device-store.ts";
import { devicesIn, storedOf } from "../../../plugins/zigbee2mqtt/stored-devices.ts";
import { listedLamp } from "../../fakes/zigbee2mqtt.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { startMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";
import { definitions, inventoryIn, lamp, listed } from "./definitions.ts";
import { openFake, real, startBridge } from "./start-bridge.ts";

function remembered(exposing: readonly unknown[]) {
  const home = new DeviceStore([], true, () => undefined);
  const devices = exposing.map((each, at) => listed(each, at + 1));
  home.take(inventoryIn(devices, []));
  return home.remember();
}

/** The number of turns that other work gets while `work` runs. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  const progress = { turns: 0, isDone: false };
  void work.finally(() => (progress.isDone = true));
  while (!progress.isDone) {
    await setImmediate();
    progress.turns += 1;
  }
  return progress.turns;
}

test("stored devices are read back as they were", async () => {
  const devices = remembered([lamp, lamp]);
  assert.equal(devices.length, 2);

  const stored: unknown = JSON.parse(JSON.stringify(await storedOf(devices)));

  assert.deepEqual(await devicesIn(stored), JSON.parse(JSON.stringify(devices)));
});

test("other work has its turns while a device of every definition is stored and read", async () => {
  const devices = remembered(
    definitions.flatMap(({ models, exposes }) =>
      models.map((model) => ({ vendor: "v", model, exposes })),
    ),
  );
  const storing = storedOf(devices);
  assert.ok((await turnsDuring(storing)) > 3);
  const stored = await storing;
  assert.ok(JSON.stringify(stored).length < 1e6, "the stored list is small");

  const reading = devicesIn(stored);

  assert.ok((await turnsDuring(reading)) > 3);
  assert.equal((await reading).length, devices.length);
});

test("a list of another version and a damaged one are read as empty", async () => {
  const stored = await storedOf(remembered([lamp]));
  const damaged = { ...stored, devices: stored.devices.slice(0, -40) };
  const noList = await storedOf([]);

  for (const each of [undefined, null, 7, { version: 2, devices: [{ nativeId: "a" }] }, damaged]) {
    assert.deepEqual(await devicesIn(each), []);
  }
  assert.deepEqual(await devicesIn(noList), []);
});

test("after a restart the bridge shows its devices while Zigbee2MQTT is away", real, async (t) => {
  const [broker, emptyBroker] = [await startMosquitto(t), await startMosquitto(t)];
  const storage = await emptyFolder(t);
  openFake(t, broker.url, { devices: [listedLamp(1, "lamp")], groups: [] });
  const bridge = await startBridge(t, broker.url, { storage });
  await until(() => [...bridge.devices.values()].some(({ available }) => available));
  await bridge.stop();

  const next = await startBridge(t, emptyBroker.url, { storage });

  assert.equal(next.devices.get(next.idOf("lamp"))?.available, false);
});
