import assert from "node:assert/strict";
import { test } from "node:test";
import { installZigbee2Mqtt, startZigbee2Mqtt } from "../fakes/real-zigbee2mqtt.ts";
import { startMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";
import { real, startBridge } from "../plugins/zigbee2mqtt/start-bridge.ts";

/** A Zigbee2MQTT loads thousands of definitions first. */
const LISTED = { withinMs: 60_000 };

test("the bridge works with a running Zigbee2MQTT", real, async (t) => {
  const installed = await installZigbee2Mqtt().then(
    (folder) => ({ folder }),
    (error: Error) => ({ reason: error.message }),
  );
  if ("reason" in installed) return t.skip(installed.reason);
  const broker = await startMosquitto(t);
  await startZigbee2Mqtt(t, installed.folder, broker.port);
  const bridge = await startBridge(t, broker.url);
  const named = (name: string) =>
    [...bridge.devices.values()].find((device) => device.name === name);
  const isThere = (name: string) => named(name)?.available === true;
  await until(() => isThere("lamp") && isThere("lounge"), LISTED);

  await t.test("its devices and groups have their kinds and parts", () => {
    const found = [...bridge.devices.values()].map(({ name, kind, parts = [] }) =>
      [name, kind, ...parts.map(({ id }) => id)].join(" "),
    );
    const single = ["lamp light", "blind cover", "weather sensor", "lock lock", "lounge group"];
    const switches = ["plug switch", "far switch", "asleep switch", "gangs switch l1 l2"];
    assert.deepEqual(found.toSorted(), [...single, ...switches, "fan fan light"].toSorted());
  });

  await t.test("a device that it cannot reach is unavailable, and only that one", async () => {
    const unavailable = () =>
      [...bridge.devices.values()].flatMap(({ name, available }) => (available ? [] : [name]));
    await until(() => unavailable().join() === "far");
  });

  await t.test("a command is confirmed by its state", async () => {
    const lamp = bridge.idOf("lamp");

    await bridge.command(lamp, { on: true, brightness: 50 });

    assert.equal(bridge.state(lamp)["on"], true);
    assert.equal(Math.round(Number(bridge.state(lamp)["brightness"])), 50);
  });

  await t.test("a command to a group reaches its members", async () => {
    await bridge.command(bridge.idOf("lounge"), { on: false });

    await until(() =>
      ["lamp", "plug"].every((name) => bridge.state(bridge.idOf(name))["on"] === false),
    );
  });

  await t.test("a command to a device that does not answer fails with its error", async () => {
    await assert.rejects(bridge.command(bridge.idOf("asleep"), { on: true }), {
      code: "deadline_passed",
      message: /^asleep: it does not answer; .* \(Timeout - /,
    });
  });
});
