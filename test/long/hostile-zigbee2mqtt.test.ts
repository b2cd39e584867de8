import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { listedLamp } from "../fakes/zigbee2mqtt.ts";
import { until } from "../helpers/until.ts";
import { openNetwork, real } from "../plugins/zigbee2mqtt/start-bridge.ts";

const LONG = 10 * 2 ** 20;
/** A message of ten MiB takes its time where much else is done. */
const WITHIN = { withinMs: 15_000 };

/** One lamp; `works` resolves when it is told of after all that was sent before. */
async function openLamp(t: TestContext) {
  const { bridge, fake } = await openNetwork(t, { devices: [listedLamp(1)], groups: [] });
  const id = bridge.idOf("lamp 1");
  const works = () =>
    until(() => {
      fake.tell("lamp 1", { state: "ON", brightness: 254 }); // a broker drops what it cannot get rid of
      return bridge.state(id)["brightness"] === 100;
    }, WITHIN);
  return { bridge, fake, id, works };
}

test("meaningless messages are counted and reported, without other effects", real, async (t) => {
  const { bridge, fake, works } = await openLamp(t);
  const noise = ["not JSON", "[]", "NaN", "7", '{"brightness":NaN}', `"${"x".repeat(300_000)}"`];

  for (const payload of noise) fake.publish("lamp 1", payload);
  fake.publish("lamp 1/availability", "perhaps", true);
  fake.publish("bridge/state", "perhaps");
  fake.publish("bridge/definitions", "x".repeat(LONG), true);

  await works();
  assert.equal(
    bridge.degraded,
    "1 message was ignored; the last, zigbee2mqtt/lamp 1: it is not a JSON object",
  );
  for (let at = 0; at < 10; at++) fake.publish("lamp 1", "x".repeat(LONG));
  await until(() => bridge.degraded?.startsWith("10 messages were ignored"), WITHIN);
  await works();
  const left = bridge.logs.filter(({ sentence }) => sentence === "a message was ignored");
  assert.ok(left.length >= 4 && left.length < 12, `${left.length}`);
});

test("values of wrong types are unknown and counted", real, async (t) => {
  const { bridge, fake, id, works } = await openLamp(t);
  await works();

  await until(() => {
    // again, because the lamp may still tell of its last command
    fake.publish("lamp 1", { state: { on: "?" }, brightness: "much", constructor: 1, x: null });
    return bridge.state(id)["brightness"] === null;
  });
  assert.equal(bridge.state(id)["on"], null);
  assert.ok(bridge.logs.some(({ sentence }) => sentence === "a value was ignored"));
});

test("an invalid device list keeps the previous devices and is reported", real, async (t) => {
  const { bridge, fake, works } = await openLamp(t);

  fake.publish("bridge/devices", "{", true);
  fake.publish("bridge/devices", { not: "a list" }, true);

  await until(() => bridge.degraded);
  assert.match(bridge.degraded ?? "", /bridge\/devices of Zigbee2MQTT cannot be read/);
  await works();
  fake.devices.push(listedLamp(2));
  fake.list();
  await until(() => bridge.devices.size === 2 && bridge.degraded === undefined);
});

test("endless retained garbage is dropped and reported", real, async (t) => {
  const { bridge, fake, works } = await openLamp(t);

  for (let at = 0; at < 2_000; at++) fake.publish(`garbage/${at}`, "x".repeat(3_000), true);

  await until(() => bridge.degraded?.includes("too many belong to no device"), WITHIN);
  await works();
});

test("10,000 announcements of one device make one device", real, async (t) => {
  const { bridge, fake, works } = await openLamp(t);
  fake.devices = Array.from({ length: 10_000 }, () => listedLamp(1));

  for (let i = 0; i < 3; i++) fake.list();

  await until(() => bridge.degraded, WITHIN);
  assert.match(bridge.degraded ?? "", /left out: 9999 \(it is listed twice\)/);
  await works();
  assert.equal(bridge.devices.size, 1);
});
