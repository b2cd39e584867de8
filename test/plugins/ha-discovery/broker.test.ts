import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";
import { openPeer, startBridge, startHome } from "./home.ts";

const real = { skip: withoutMosquitto };

const DEVICE = {
  ids: ["plug-1"],
  name: "Coffee",
  mf: "Maker",
  mdl: "P1",
  sw: "1.2",
  sa: "Kitchen",
};
const RELAY = {
  stat_t: "plug/state",
  cmd_t: "plug/set",
  avty_t: "plug/status",
  uniq_id: "plug-1-relay",
  name: null,
  dev: DEVICE,
};
const ID = "switch:plug-1-relay";

test(
  "a reload keeps devices and what they told, and publishes nothing less meanwhile",
  real,
  async (t) => {
    const { broker, peer, bridge } = await startHome(t);
    await peer.announce("switch/relay", RELAY);
    await peer.tell("plug/status", "online", true);
    await until(() => bridge.devices.get(ID)?.available);
    await peer.tell("plug/state", "ON");
    await until(() => bridge.state(ID)["on"] === true);

    const handedOver = await bridge.stop();
    const next = await startBridge(t, broker.url, { handedOver });

    assert.deepEqual([next.devices.get(ID)?.available, next.state(ID)["on"]], [true, true]);
    await until(() => next.logs.some(({ sentence }) => sentence === "connected to the broker"));
    await peer.obey("plug/set", () => void peer.tell("plug/state", "OFF"));
    await next.command(ID, { on: false });
    assert.equal(next.devices.get(ID)?.available, true);
  },
);

test("a broker that is killed and comes back finds devices that stayed", real, async (t) => {
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
  "however often a broker is killed, all is current soon and no command comes twice",
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
      await until(() => bridge.state("sensor:c")["round"] === round, { withinMs: 5_000 });

      const on = round % 2 === 0;
      await device.obey("r/set", (payload) => void device.tell("r", payload, true));
      await bridge.command("switch:r", { on });
      assert.deepEqual(device.heard, [{ topic: "r/set", payload: on ? "ON" : "OFF" }]);
    }
  },
);

test("each connection tells devices that somebody is there to see them", real, async (t) => {
  const { broker, peer } = await startHome(t);
  await peer.listen("homeassistant/status");

  await startBridge(t, broker.url);

  await until(() => peer.heard.some(({ payload }) => payload === "online"));
});
