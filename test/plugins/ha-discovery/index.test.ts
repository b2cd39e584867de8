import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import recorded from "../../fixtures/home-assistant/discovery.json" with { type: "json" };
import { until } from "../../helpers/until.ts";
import { PLUG, PLUG_ID, POWER, real, RELAY, startHome } from "./home.ts";

test("devices announced by Zigbee2MQTT appear, each with its readings", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  for (const [topic, config] of Object.entries(recorded)) {
    await peer.announce(topic.slice("homeassistant/".length, -"/config".length), config);
  }

  const kinds = () =>
    [...bridge.devices.values()].map(({ name, kind }) => `${name}: ${kind}`).toSorted();
  const expected = [
    "Zigbee2MQTT Bridge: sensor",
    "blind: cover",
    "living/colour: light",
    "lounge: light",
    "motion: binary-sensor",
    "plug: switch",
    "remote: button",
    "sofa: light",
    "weather: sensor",
  ];
  // A device has the kind of its first component until the others are announced.
  await until(() => isDeepStrictEqual(kinds(), expected)).catch(() => undefined);
  assert.deepEqual(kinds(), expected);
  const { capabilities } = await bridge.device("switch:0x00158d0001d82999_switch_zigbee2mqtt");
  assert.deepEqual(Object.keys(capabilities), ["on", "current", "energy", "power", "voltage"]);
});

test(
  "a device and its readings become one device, in any order of announcements",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    await peer.announce("sensor/plug-1/power", POWER);
    await peer.announce("switch/plug-1/relay", RELAY);
    await peer.tell("plug/status", "online", true);
    await peer.tell("plug/state", "ON", true);
    await peer.tell("plug/power", "12.5", true);

    await until(() => bridge.devices.get(PLUG_ID)?.state["power"] === 12.5);
    assert.deepEqual(bridge.devices.get(PLUG_ID), {
      nativeId: PLUG_ID,
      kind: "switch",
      name: "Coffee",
      room: "Kitchen",
      info: { manufacturer: "Maker", model: "P1", firmware: "1.2" },
      capabilities: {
        on: { type: "boolean" },
        power: { type: "number", unit: "W", readOnly: true },
      },
      state: { on: true, power: 12.5 },
      available: true,
    });
    assert.equal(bridge.devices.size, 1);
  },
);

test("a command is confirmed by the matching state, not by an older one", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/relay", { stat_t: "r", cmd_t: "r/set", uniq_id: "r" });
  await bridge.device("switch:r");
  await peer.tell("r", "OFF");
  await until(() => bridge.state("switch:r")["on"] === false);
  let isDone = false;
  await peer.listen("r/set");

  const done = bridge.command("switch:r", { on: true }).then(() => (isDone = true));
  await until(() => peer.heard.length === 1);
  await peer.tell("r", "OFF");
  await peer.tell("r/other", "wait");
  assert.equal(isDone, false);
  await peer.tell("r", "ON");

  await done;
  assert.deepEqual(peer.heard, [{ topic: "r/set", payload: "ON" }]);
  assert.equal(bridge.state("switch:r")["on"], true);
});

test("a command without confirmation fails with a reason", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/relay", { stat_t: "r", cmd_t: "r/set", uniq_id: "r", name: "Relay" });
  await bridge.device("switch:r");

  await assert.rejects(bridge.command("switch:r", { on: true }), {
    code: "deadline_passed",
    message: "Relay has not confirmed on",
  });
});

test("a command to a device without state is done when the broker has it", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("light/strip", { cmd_t: "s/set", bri_cmd_t: "s/bri", uniq_id: "s" });
  await bridge.device("light:s");

  await bridge.command("light:s", { on: true, brightness: 40 });

  assert.deepEqual(bridge.state("light:s"), { on: true, brightness: 40 });
});

test("availability uses the announced mode", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const avty = [{ t: "a" }, { t: "b", val_tpl: "{{ value_json.state }}" }];
  for (const mode of ["all", "any", "latest"]) {
    await peer.announce(`switch/${mode}`, { cmd_t: "x", avty, avty_mode: mode, uniq_id: mode });
  }
  await until(() => bridge.devices.size === 3);
  const available = () =>
    ["all", "any", "latest"].filter((mode) => bridge.devices.get(`switch:${mode}`)?.available);
  assert.deepEqual(available(), []);

  await peer.tell("a", "online", true);
  await until(() => available().length === 2);
  assert.deepEqual(available(), ["any", "latest"]);
  await peer.tell("b", { state: "online" }, true);
  await until(() => available().length === 3);
  await peer.tell("a", "offline", true);
  await until(() => available().length === 1);
  assert.deepEqual(available(), ["any"]);
});

test(
  "an empty announcement removes its component, and the last one its device",
  real,
  async (t) => {
    const { peer, bridge } = await startHome(t);
    await peer.announce("switch/relay", RELAY);
    await peer.announce("sensor/power", POWER);
    await until(() => "power" in (bridge.devices.get(PLUG_ID)?.capabilities ?? {}));

    await peer.announce("sensor/power", "");
    await until(() => !("power" in (bridge.devices.get(PLUG_ID)?.capabilities ?? { power: 1 })));
    await peer.announce("switch/relay", "");
    await until(() => bridge.devices.size === 0);
  },
);

test("a device that switches to a single announcement stays the same device", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/relay", RELAY);
  await peer.tell("plug/state", "ON");
  await until(() => bridge.devices.get(PLUG_ID));
  await peer.tell("plug/state", "ON");
  await until(() => bridge.devices.get(PLUG_ID)?.state["on"] === true);

  await peer.announce("switch/relay", { migrate_discovery: true });
  await peer.announce("device/plug", {
    dev: { ...PLUG, name: "Coffee maker" },
    o: { name: "maker" },
    cmps: { relay: { p: "switch", ...RELAY }, power: { p: "sensor", ...POWER } },
  });
  await peer.announce("switch/relay", "");

  await until(() => bridge.devices.get(PLUG_ID)?.name === "Coffee maker");
  assert.equal(bridge.devices.get(PLUG_ID)?.state["on"], true);
  assert.deepEqual(Object.keys(bridge.devices.get(PLUG_ID)?.capabilities ?? {}), ["on", "power"]);
});

test("a press is an event each time, and the last one is readable", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const remote = {
    atype: "trigger",
    t: "remote",
    type: "button_short_press",
    dev: { ids: "rem", name: "Remote" },
  };
  for (const button of ["button_1", "button_2"]) {
    await peer.announce(`device_automation/${button}`, { ...remote, stype: button, pl: button });
  }
  await until(() => bridge.devices.get("device:rem"));
  await until(async () => {
    await peer.tell("remote", "button_1");
    return bridge.events.length > 0;
  });
  const before = bridge.events.length;

  for (const button of ["button_2", "button_2", "unknown"]) await peer.tell("remote", button);

  await until(() => bridge.events.length === before + 2);
  assert.deepEqual(bridge.events.at(-1), {
    nativeId: "device:rem",
    event: "button_2 button_short_press",
  });
  assert.equal(bridge.state("device:rem")["lastAction"], "button_2 button_short_press");
  assert.equal(bridge.devices.get("device:rem")?.kind, "button");
});

test("a scene is activated by its own message", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.listen("scene/set");
  await peer.announce("scene/movie", {
    cmd_t: "scene/set",
    pl_on: "movie",
    name: "Movie",
    uniq_id: "m",
  });
  const scene = await until(() => bridge.scenes[0]);

  await bridge.activateScene(scene.nativeId);

  await until(() => peer.heard.length === 1);
  assert.deepEqual(peer.heard, [{ topic: "scene/set", payload: "movie" }]);
  assert.equal(bridge.devices.size, 0);
});

test("nothing is published to a denied topic", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  await peer.announce("switch/a", {
    stat_t: "a",
    cmd_t: "zigbee2mqtt/bridge/request/restart",
    uniq_id: "a",
  });
  await peer.announce("switch/b", {
    stat_t: "b",
    cmd_t: "homeassistant/light/x/config",
    uniq_id: "b",
  });
  await until(() => bridge.devices.size === 2);

  for (const { capabilities } of bridge.devices.values()) {
    assert.ok(Object.values(capabilities).every(({ readOnly }) => readOnly));
  }
});
