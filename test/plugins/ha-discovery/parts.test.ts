import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { type Peer, real, startBridge, startHome } from "./home.ts";

const STRIP = { ids: ["strip"], name: "Strip", sa: "Office" };
const ID = "switch:relay-1";
const KEPT_APART = ["switch:relay-1", "switch:relay-2", "switch:relay-3"];

/** A relay of the power strip, as its announcement and as its topics. */
const relay = (number: number) => ({
  topic: `switch/relay-${number}`,
  config: {
    stat_t: `strip/${number}`,
    cmd_t: `strip/${number}/set`,
    uniq_id: `relay-${number}`,
    name: `Relay ${number}`,
    avty_t: "strip/status",
    dev: STRIP,
  },
});

/** Announces relays, which obey, and a power meter of the strip. */
async function plugIn(peer: Peer, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await peer.obey(`strip/${number}/set`, (on) => void peer.tell(`strip/${number}`, on, true));
    const { topic, config } = relay(number);
    await peer.announce(topic, config);
    await peer.tell(`strip/${number}`, "OFF", true);
  }
  await peer.announce("sensor/power", {
    stat_t: "strip/power",
    dev_cla: "power",
    unit_of_meas: "W",
    uniq_id: "power",
    dev: STRIP,
  });
  await peer.tell("strip/power", "12", true);
  await peer.tell("strip/status", "online", true);
}

async function startStrip(t: TestContext, options: object = {}) {
  const home = await startHome(t, options);
  await plugIn(home.peer, 3);
  await until(() => home.bridge.devices.get(ID)?.available);
  return home;
}

/** The announcements of three relays as they are stored. */
const announcements = () =>
  Object.fromEntries(
    [1, 2, 3]
      .map(relay)
      .map(({ topic, config }) => [
        `homeassistant/${topic}/config`,
        { text: JSON.stringify(config), retained: true },
      ]),
  );

/** A folder in which the bridge has stored a home. */
async function storedHome(t: TestContext, home: object): Promise<string> {
  const folder = await emptyFolder(t);
  await createStorage(folder, collectedLog()).set("announcements", home);
  return folder;
}

test("relays of one device are its parts, and its readings are its own", real, async (t) => {
  const { bridge } = await startStrip(t);
  await until(() => bridge.devices.get(ID)?.state["power"] === 12);

  const { name, room, capabilities, parts = [] } = await bridge.device(ID);
  assert.deepEqual([...bridge.devices.keys()], [ID]);
  assert.deepEqual([name, room, Object.keys(capabilities)], ["Strip", "Office", ["power"]]);
  assert.deepEqual(
    parts.map((part) => [part.id, part.kind, part.name, part.state]),
    [
      ["relay-1", "switch", "Relay 1", { on: false }],
      ["relay-2", "switch", "Relay 2", { on: false }],
      ["relay-3", "switch", "Relay 3", { on: false }],
    ],
  );
});

test("a command of one part touches no other, and one command reaches several", real, async (t) => {
  const { bridge, peer } = await startStrip(t);
  const isOn = () => bridge.devices.get(ID)?.parts?.map(({ state }) => state["on"]);

  await bridge.command(ID, {}, { parts: { "relay-2": { on: true } } });
  assert.deepEqual(isOn(), [false, true, false]);
  const parts = { "relay-1": { on: true }, "relay-2": { on: false } };
  await bridge.command(ID, {}, { parts });

  assert.deepEqual(isOn(), [true, false, false]);
  assert.ok(!peer.heard.some(({ topic }) => topic === "strip/3/set"));
});

test("the parts of a device are away together with it", real, async (t) => {
  const { bridge, peer } = await startStrip(t);

  await peer.tell("strip/status", "offline", true);

  await until(() => bridge.devices.get(ID)?.available === false);
});

test("a trigger of a device with parts is an event of the device", real, async (t) => {
  const { bridge, peer } = await startStrip(t);
  const type = { automation_type: "trigger", type: "button_short_press", subtype: "button_1" };
  await peer.announce("device_automation/press", { ...type, topic: "press", dev: STRIP });
  await until(() => bridge.devices.get(ID)?.capabilities["lastAction"]);

  await peer.tell("press", "x");

  await until(() => bridge.events.length === 1);
  assert.deepEqual(bridge.events, [{ nativeId: ID, event: "button_1 button_short_press" }]);
  await until(() => bridge.state(ID)["lastAction"] === "button_1 button_short_press");
});

test("relays that an earlier version stored as devices stay devices", real, async (t) => {
  const storage = await storedHome(t, announcements());
  const { broker, bridge } = await startHome(t, { storage });

  await until(() => KEPT_APART.every((id) => bridge.devices.has(id)));
  assert.ok([...bridge.devices.values()].every(({ parts }) => parts === undefined));
  await bridge.stop();

  const next = await startBridge(t, broker.url, { storage });
  assert.deepEqual([...next.devices.keys()], KEPT_APART);
});

test("relays that an earlier version hands over as devices stay devices", real, async (t) => {
  const { broker, bridge } = await startStrip(t);
  const { compositions: _, ...earlier } = (await bridge.stop()) as { compositions: object };

  const next = await startBridge(t, broker.url, { handedOver: earlier });
  await until(() => KEPT_APART.every((id) => next.devices.has(id)));
  const state = (await next.stop()) as { compositions: object };

  const later = await startBridge(t, broker.url, { handedOver: state });
  await until(() => KEPT_APART.every((id) => later.devices.has(id)));
});

test("a device that has one relay keeps its id when another is added", real, async (t) => {
  const { bridge, peer } = await startHome(t);
  const [first, second] = [relay(2), relay(1)];
  await peer.announce(first.topic, first.config);
  await bridge.device("switch:relay-2");

  await peer.announce(second.topic, second.config);

  await until(() => bridge.devices.get("switch:relay-2")?.parts?.length === 1);
  assert.deepEqual([...bridge.devices.keys()], ["switch:relay-2"]);
});

test("a restart joins a device as it was, whatever is announced since", real, async (t) => {
  const storage = await emptyFolder(t);
  const { broker, bridge, peer } = await startHome(t, { storage });
  await plugIn(peer, 3);
  await until(() => bridge.devices.get(ID)?.parts?.length === 3);
  const parts = bridge.devices.get(ID)?.parts?.map(({ id }) => id) ?? [];
  await bridge.stop();

  await peer.announce("climate/heater", { mode_cmd_t: "m", uniq_id: "heater", dev: STRIP });
  const next = await startBridge(t, broker.url, { storage });

  await until(() => next.devices.get(ID)?.parts?.length === 4);
  const [device] = [...next.devices.values()];
  assert.deepEqual(
    device?.parts?.map(({ id }) => id),
    [...parts, "air-conditioner"],
  );
  assert.equal(next.devices.size, 1);
});

for (const [what, home] of [
  ["a list", { version: 2, announcements: announcements(), compositions: [] }],
  ["numbers", { version: 2, announcements: announcements(), compositions: { x: 1 } }],
  ["nothing", { version: 2 }],
] as const) {
  test(`compositions that are stored as ${what} count as none`, real, async (t) => {
    const { bridge, peer } = await startHome(t, { storage: await storedHome(t, home) });

    await plugIn(peer, 3);

    await until(() => bridge.devices.get(ID)?.parts?.length === 3);
  });
}
