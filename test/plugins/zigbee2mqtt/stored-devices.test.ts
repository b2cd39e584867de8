import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
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

/** The turns of the event loop in which `work` calls a method of JSON. */
async function turnsWith(t: TestContext, method: "parse" | "stringify", work: () => Promise<void>) {
  let [turn, isDone] = [0, false];
  const turns = new Set<number>();
  const original = JSON[method] as (value: never) => unknown;
  const spy = t.mock.method(JSON, method, (value: never) => {
    turns.add(turn);
    return original(value);
  });
  const count = () => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  count();
  await work();
  isDone = true;
  spy.mock.restore();
  return turns.size;
}

test("stored devices are read back as they were", async () => {
  const devices = remembered([lamp, lamp]);
  assert.equal(devices.length, 2);

  const stored: unknown = JSON.parse(JSON.stringify(await storedOf(devices)));

  assert.deepEqual(await devicesIn(stored), JSON.parse(JSON.stringify(devices)));
});

test("a device of every definition is stored and read in several turns", async (t) => {
  const devices = remembered(
    definitions.flatMap(({ models, exposes }) =>
      models.map((model) => ({ vendor: "v", model, exposes })),
    ),
  );
  let stored: unknown;
  let read: readonly unknown[] = [];

  const writing = await turnsWith(
    t,
    "stringify",
    async () => void (stored = await storedOf(devices)),
  );
  const reading = await turnsWith(t, "parse", async () => void (read = await devicesIn(stored)));

  assert.ok(writing > 1, `written in ${writing} turns`);
  assert.ok(reading > 1, `read in ${reading} turns`);
  assert.equal(read.length, devices.length);
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
