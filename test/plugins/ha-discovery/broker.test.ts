import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../helpers/until.ts";
import { openPeer, PLUG_ID, real, RELAY, startBridge, startHome } from "./home.ts";

test(
  "a reload keeps devices and their states and never publishes an incomplete list",
  real,
  async (t) => {
    const { broker, peer, bridge } = await startHome(t);
    await peer.announce("switch/relay", RELAY);
    await peer.tell("plug/status", "online", true);
    await until(() => bridge.devices.get(PLUG_ID)?.available);
    await peer.tell("plug/state", "ON");
    await until(() => bridge.state(PLUG_ID)["on"] === true);

    const handedOver = await bridge.stop();
    const next = await startBridge(t, broker.url, { handedOver });

    assert.deepEqual(
      [next.devices.get(PLUG_ID)?.available, next.state(PLUG_ID)["on"]],
      [true, true],
    );
    await until(() => next.logs.some(({ sentence }) => sentence === "connected to the broker"));
    await peer.obey("plug/set", () => void peer.tell("plug/state", "OFF"));
    await next.command(PLUG_ID, { on: false });
    assert.equal(next.devices.get(PLUG_ID)?.available, true);
  },
);

test("devices are kept while the broker is killed and restarted", real, async (t) => {
  const { broker, peer, bridge } = await startHome(t);
  await peer.announce("switch/relay", { stat_t: "r", cmd_t: "r/set", uniq_id: "r" });
  await bridge.device("switch:r");

  await broker.stop();
  await until(() => bridge.degraded !== undefined);
  assert.equal(bridge.devices.get("switch:r")?.available, false);
  await assert.rejects(bridge.command("switch:r", { on: true }), { code: "bridge_down" });

  await broker.start();
  await until(() => bridge.devices.get("switch:r")?.available, { withinMs: 5_000 });
  assert.equal(bridge.degraded, undefined);
  const returned = await openPeer(t, broker.url);
  await returned.obey("r/set", (payload) => void returned.tell("r", payload));
  await bridge.command("switch:r", { on: true });
  assert.deepEqual(returned.heard, [{ topic: "r/set", payload: "ON" }]);
});

test(
  "after repeated kills of the broker all states are soon current and no command arrives twice",
  real,
  async (t) => {
    const { broker, bridge, peer } = await startHome(t);
    await peer.announce("switch/relay", { stat_t: "r", cmd_t: "r/set", uniq_id: "r" });
    await peer.announce("sensor/round", { stat_t: "round", stat_cla: "total", uniq_id: "c" });
    await until(() => bridge.devices.size === 2);

    for (let round = 1; round <= 5; round++) {
      await broker.stop();
      await broker.start();
      const device = await openPeer(t, broker.url);
      await device.tell("round", String(round), true);
      await until(() => bridge.state("sensor:c")["value"] === round, { withinMs: 5_000 });

      const on = round % 2 === 0;
      await device.obey("r/set", (payload) => void device.tell("r", payload, true));
      await bridge.command("switch:r", { on });
      assert.deepEqual(device.heard, [{ topic: "r/set", payload: on ? "ON" : "OFF" }]);
    }
  },
);

test("each connection announces the home to devices", real, async (t) => {
  const { broker, peer } = await startHome(t);
  await peer.listen("homeassistant/status");

  await startBridge(t, broker.url);

  await until(() => peer.heard.some(({ payload }) => payload === "online"));
});
