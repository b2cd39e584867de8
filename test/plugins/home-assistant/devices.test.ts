import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

test("each kind of entity is a device with its values in the home's units", async (t) => {
  const { bridge } = await startHome(t);
  const state = (id: string) => bridge.state(id);

  assert.deepEqual(state("reg-sofa"), {
    on: true,
    brightness: 62,
    colorTemperature: 2_702,
    color: null,
    effect: "none",
  });
  assert.deepEqual(state("reg-cellar"), { on: false });
  assert.equal(bridge.devices.get("switch.plug")?.kind, "plug");
  assert.deepEqual(state("sensor.outside"), { temperature: 20 });
  assert.deepEqual(state("sensor.energy"), { energy: 1.25 });
  assert.deepEqual(state("sensor.wind"), { value: 12.5 });
  assert.deepEqual(state("sensor.washer"), { value: "spin" });
  assert.deepEqual(state("binary_sensor.door"), { contact: true });
  assert.deepEqual(state("binary_sensor.hall"), { motion: true });
  assert.deepEqual(state("cover.blind"), { position: 40, action: "stopped", tilt: 10 });
  assert.deepEqual(state("climate.hall"), {
    temperature: 19.2,
    targetTemperature: 20.5,
    mode: "heat",
    action: "heating",
  });
  assert.deepEqual(state("fan.hood"), { on: true, speed: 50 });
  assert.deepEqual(state("lock.front"), { locked: true, jammed: false });
  assert.deepEqual(state("lock.safe"), { locked: true, jammed: false });
  assert.deepEqual(state("vacuum.robo"), { action: "docked", fanSpeed: "low", battery: 80 });
  assert.deepEqual(state("alarm_control_panel.home"), { mode: "disarmed", status: "disarmed" });
  assert.deepEqual(state("input_number.level"), { value: 20 });
  assert.deepEqual(state("input_select.mode"), { value: "day" });
  assert.deepEqual(state("button.restart"), {});
  assert.deepEqual(state("humidifier.cellar"), { on: false, targetHumidity: 55 });
  assert.equal(state("water_heater.boiler")["mode"], "eco");
  assert.deepEqual(state("siren.hall"), { on: false, tone: null, volume: null, duration: null });
  assert.deepEqual(state("valve.garden"), { on: false, position: 0, action: "stopped" });
  assert.deepEqual(state("lawn_mower.garden"), { action: "docked" });
  assert.deepEqual(state("event.remote"), { lastAction: "press_end" });
  assert.equal(state("reg-update")["updateAvailable"], true);
  assert.deepEqual(state("text.label"), { value: "Kitchen" });
  assert.deepEqual(state("input_text.pin"), { value: null });
  assert.deepEqual(state("number.boiler"), { value: 60 });
  assert.deepEqual(state("date.holiday"), { value: "2026-12-24" });
  assert.equal(state("weather.home")["windDirection"], 22.5);
  assert.deepEqual(state("calendar.family"), { active: false });
  assert.deepEqual(state("camera.yard"), { streaming: true, recording: false });
  assert.equal(state("reg-phone")["battery"], 64);
  assert.equal(state("person.anna")["home"], true);
  assert.equal(state("media_player.tv")["volume"], 35);
});

test("names, rooms and manufacturers come from the registries, and hidden entities are omitted", async (t) => {
  const { bridge } = await startHome(t);

  const { name, room, info } = bridge.devices.get("reg-sofa") ?? {};
  assert.deepEqual([name, room], ["Sofa lamp", "Living room"]);
  assert.deepEqual(info, { manufacturer: "Signify", model: "LCA001" });
  assert.equal(bridge.devices.get("reg-cellar")?.room, "Cellar");
  assert.equal(bridge.devices.has("reg-lqi"), false);
  assert.deepEqual(bridge.scenes, [
    { nativeId: "reg-dusk", name: "Dusk", room: "Living room", icon: "mdi:weather-sunset" },
  ]);
});

test("a change is reported immediately, and a lamp that is off keeps its level", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.change("light.sofa", { brightness: null, color_temp_kelvin: null, hs_color: null }, "off");
  await until(() => bridge.state("reg-sofa")["on"] === false);
  fake.set("sensor.outside", "unknown", fake.entities.get("sensor.outside")?.attributes);
  await until(() => bridge.state("sensor.outside")["temperature"] === null);

  assert.equal(bridge.state("reg-sofa")["brightness"], 62);
  assert.equal(bridge.devices.get("sensor.outside")?.available, true);
});

test("an unavailable entity is kept with its last known state", async (t) => {
  const { fake, bridge } = await startHome(t);
  const before = bridge.devices.get("reg-sofa");

  fake.set("light.sofa", "unavailable", { friendly_name: "Sofa lamp", restored: true });
  await until(() => bridge.devices.get("reg-sofa")?.available === false);

  assert.deepEqual(bridge.devices.get("reg-sofa"), { ...before, available: false });
  await assert.rejects(bridge.command("reg-sofa", { on: true }), { code: "bridge_down" });
});

test("a scene is unavailable as long as its entity is, and while Home Assistant starts without it", async (t) => {
  const { fake, bridge } = await startHome(t);
  const before = bridge.scenes;
  const { attributes } = fake.entities.get("scene.dusk") ?? {};

  fake.set("scene.dusk", "unavailable", { friendly_name: "Dusk", restored: true });
  await until(() => bridge.scenes[0]?.available === false);
  const away = bridge.scenes;
  await assert.rejects(bridge.activateScene("reg-dusk"), { code: "bridge_down" });
  fake.set("scene.dusk", "unknown", attributes);
  await until(() => bridge.scenes[0]?.available === undefined);
  assert.deepEqual(bridge.scenes, before);
  fake.state = "STARTING";
  fake.remove("scene.dusk");
  await until(() => bridge.scenes[0]?.available === false);

  assert.deepEqual(
    away,
    before.map((scene) => ({ ...scene, available: false })),
  );
  assert.deepEqual(bridge.scenes, away);
});

test("entities are added and removed, and a renamed one stays the same device", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.set("switch.new", "off", { friendly_name: "New" });
  await until(() => bridge.devices.has("switch.new"));
  fake.remove("switch.new");
  await until(() => !bridge.devices.has("switch.new"));
  fake.rename("light.sofa", "light.couch");
  fake.change("light.couch", { friendly_name: "Couch" });
  await until(() => bridge.devices.get("reg-sofa")?.name === "Couch");
  await bridge.command("reg-sofa", { on: false });

  assert.equal(fake.calls.at(-1)?.entityId, "light.couch");
});

test("a device with new capabilities is published again", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.change("light.simple", { supported_color_modes: ["brightness"], brightness: 255 }, "on");

  await until(() => bridge.devices.get("reg-cellar")?.capabilities["brightness"]);
  assert.deepEqual(bridge.state("reg-cellar"), { on: true, brightness: 100 });
});

test("entities missing while Home Assistant starts are not removed", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.state = "STARTING";
  const attributes = fake.entities.get("switch.plug")?.attributes;
  fake.remove("switch.plug");
  await until(() => bridge.devices.get("switch.plug")?.available === false);
  fake.state = "RUNNING";
  fake.set("switch.plug", "on", attributes);

  await until(() => bridge.devices.get("switch.plug")?.available === true);
});

test("a user who may not read the registries still has devices", async (t) => {
  const { fake, bridge, start } = await startHome(t);
  await bridge.end();
  fake.faults.closedRegistries = true;

  const again = await start();

  await until(() => again.devices.has("light.sofa"));
  assert.match(JSON.stringify(again.logs), /rooms and stable ids are unknown/);
});

test("a press that happens now is an event, and a repeated report of it is not", async (t) => {
  const { fake, bridge } = await startHome(t);
  const press = (type: string, second: number, more: object = {}) =>
    fake.change(
      "event.remote",
      { event_type: type, ...more },
      `2026-11-21T08:00:0${second}.000+00:00`,
    );

  press("press_end", 1);
  press("press_end", 2, { multi_press_count: 2 });
  fake.change("event.remote", { restored: true }, "unavailable");
  await until(() => bridge.devices.get("event.remote")?.available === false);
  press("press_end", 2);
  await until(() => bridge.devices.get("event.remote")?.available === true);
  fake.change("event.bell", { event_type: "ring" }, "2026-11-21T08:00:03.000+00:00");
  await until(() => bridge.events.length >= 3);
  fake.drop();
  press("long_press_end", 4);
  await until(() => bridge.state("event.remote")["lastAction"] === "long_press_end");

  const press1 = { nativeId: "event.remote", event: "press_end" };
  assert.deepEqual(bridge.events, [
    press1,
    { ...press1, data: { multiPressCount: 2 } },
    { nativeId: "event.bell", event: "ring" },
  ]);
  assert.equal(bridge.devices.get("event.bell")?.kind, "doorbell");
});

test("extras of a device change with its entity", async (t) => {
  const { fake, bridge } = await startHome(t);
  const before = bridge.devices.get("media_player.tv");

  fake.change("media_player.tv", { sound_mode: "Music" });
  await until(() => bridge.devices.get("media_player.tv")?.extra?.state["soundMode"] === "Music");

  assert.deepEqual(bridge.devices.get("media_player.tv"), {
    ...before,
    extra: { ...before?.extra, state: { soundMode: "Music" } },
  });
});

test("a device that never reports says that its state is assumed", async (t) => {
  const { fake, bridge } = await startHome(t);

  fake.change("cover.blind", { assumed_state: true });
  await until(() => bridge.devices.get("cover.blind")?.assumed === true);
  fake.set("cover.blind", "unavailable", { restored: true });
  await until(() => bridge.devices.get("cover.blind")?.available === false);

  assert.equal(bridge.devices.get("cover.blind")?.assumed, true);
});

const ATTIC = "media_player.attic";
const PATIO = "media_player.patio";

test("the players that another can join follow the names, features and number of players", async (t) => {
  const { fake, bridge } = await startHome(t);
  const choices = () => {
    const capability = bridge.devices.get(ATTIC)?.capabilities["group"];
    return capability?.type === "choice" ? capability.values : [];
  };
  const become = (...names: string[]) => until(() => choices().join() === names.join());
  assert.deepEqual(choices(), ["Attic", "Kitchen", "Patio"]);
  assert.deepEqual(bridge.devices.get("media_player.tv")?.capabilities["group"], undefined);

  fake.change("media_player.kitchen", { friendly_name: "Patio" });
  await become("Attic", "Patio", "Patio 2");
  assert.equal(bridge.state(PATIO)["groupName"], "Patio 2");
  assert.equal(bridge.state(PATIO)["group"], "Patio", "it follows the renamed one");
  fake.set("media_player.bath", "idle", {
    friendly_name: "Bath",
    supported_features: 524_288,
    group_members: null,
  });
  await become("Attic", "Bath", "Patio", "Patio 2");
  fake.change("media_player.bath", { supported_features: 1 });
  await become("Attic", "Patio", "Patio 2");
  fake.change("media_player.bath", { supported_features: 524_289 });
  await become("Attic", "Bath", "Patio", "Patio 2");
  fake.remove("media_player.bath", "media_player.kitchen");
  await become("Attic", "Patio");
  fake.remove(PATIO);
  await become();
  assert.equal("groupName" in bridge.state(ATTIC), false);
});

test("players of another integration cannot be joined", async (t) => {
  const { fake, bridge } = await startHome(t);
  for (const [id, platform] of [
    [ATTIC, "sonos"],
    [PATIO, "sonos"],
    ["media_player.kitchen", "cast"],
  ] as const) {
    fake.registry.set(id, { entity_id: id, id, platform });
  }

  fake.announce("entity_registry_updated");

  await until(
    () => bridge.devices.get("media_player.kitchen")?.capabilities["group"] === undefined,
  );
  assert.deepEqual(bridge.devices.get(ATTIC)?.capabilities["group"], {
    type: "choice",
    values: ["Attic", "Patio"],
  });
});

test("a player that is away, or missing while Home Assistant starts, stays one to join", async (t) => {
  const { fake, bridge } = await startHome(t);
  const before = bridge.devices.get(ATTIC)?.capabilities["group"];
  const { state = "", attributes } = fake.entities.get(PATIO) ?? {};

  fake.set(PATIO, "unavailable", { friendly_name: "Patio", restored: true });
  fake.set("switch.first", "off");
  await until(() => bridge.devices.has("switch.first"));
  const whileAway = bridge.devices.get(ATTIC)?.capabilities["group"];
  fake.set(PATIO, state, attributes);
  await until(() => bridge.devices.get(PATIO)?.available);
  fake.state = "STARTING";
  fake.remove(PATIO);
  await until(() => bridge.devices.get(PATIO)?.available === false);

  assert.deepEqual(whileAway, before);
  assert.deepEqual(bridge.devices.get(ATTIC)?.capabilities["group"], before);
});
