import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { FakeTasmota } from "../../../fakes/tasmota.ts";
import { startMosquitto } from "../../../helpers/mosquitto.ts";
import { until } from "../../../helpers/until.ts";
import { openPeer, type Peer, real, startBridge, startHome } from "../home.ts";
import { idOf } from "./tasmota-home.ts";

const ID = idOf("switch", "relay-1");

type Bridge = Awaited<ReturnType<typeof startBridge>>;

/** The state of the first of its two relays. */
const isOn = ({ devices }: Bridge) => devices.get(ID)?.parts?.[0]?.state["on"];
const turn = (bridge: Bridge, on: boolean) => bridge.command(ID, {}, { parts: { lamp: { on } } });

/** A Tasmota on a broker. */
async function connect(peer: Peer, sensors: Readonly<Record<string, unknown>> = {}) {
  const fake = new FakeTasmota(
    ({ topic, payload, retain = false }) => {
      peer.tell(topic, payload, retain).catch(() => undefined); // the broker may be away
    },
    {},
    sensors,
  );
  await peer.hear("cmnd/strip/+", (payload, topic) => fake.receive(topic, payload));
  return fake;
}

test(
  "a Tasmota on a broker is found, asked for its state, commanded and missed",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    const fake = await connect(peer, { DHT11: { Temperature: 21.5 }, TempUnit: "C" });
    fake.announce();

    await bridge.device(ID);
    await until(() => bridge.state(ID)["temperature"] === 21.5);
    assert.equal(isOn(bridge), false);
    await turn(bridge, true);
    assert.equal(isOn(bridge), true);

    fake.setOnline(false);
    await until(() => bridge.devices.get(ID)?.available === false);
    fake.setOnline(true);
    await until(() => bridge.devices.get(ID)?.available === true);
    assert.equal(bridge.degraded, undefined);
  },
);

test("a reload keeps the state of a Tasmota without asking for it again", real, async (t) => {
  const { broker, peer, bridge } = await startHome(t);
  const fake = await connect(peer);
  fake.announce();
  await bridge.device(ID);
  await until(() => isOn(bridge) === false);
  await turn(bridge, true);
  const asked = () => peer.heard.filter(({ topic }) => topic === "cmnd/strip/STATE").length;
  const before = asked();

  const handedOver = await bridge.stop();
  const next = await startBridge(t, broker.url, { handedOver });

  await next.device(ID);
  assert.deepEqual([isOn(next), next.devices.get(ID)?.available], [true, true]);
  await turn(next, false);
  assert.equal(asked(), before);
});

test(
  "a Tasmota is asked again after the broker was away, and forgotten with its announcement",
  real,
  async (t: TestContext) => {
    const { broker, peer, bridge } = await startHome(t);
    const fake = await connect(peer);
    fake.announce();
    await bridge.device(ID);
    await until(() => isOn(bridge) === false);

    await broker.stop();
    await broker.start();
    const again = await connect(await openPeer(t, broker.url));
    again.receive("cmnd/strip/POWER1", "ON");
    again.announce();
    await until(() => isOn(bridge) === true && bridge.devices.get(ID)?.available);

    const other = await openPeer(t, broker.url);
    for (const kind of ["config", "sensors"]) {
      await other.tell(`tasmota/discovery/${again.config.mac}/${kind}`, "", true);
    }
    await until(() => bridge.devices.size === 0);
  },
);

test("without the option tasmota its announcements are not read", real, async (t) => {
  const broker = await startMosquitto(t);
  const peer = await openPeer(t, broker.url);
  const bridge = await startBridge(t, broker.url, { tasmota: false });
  (await connect(peer)).announce();

  await peer.announce("switch/last", { cmd_t: "x", uniq_id: "last" });
  await bridge.device("switch:last");

  assert.equal(bridge.devices.size, 1);
});
