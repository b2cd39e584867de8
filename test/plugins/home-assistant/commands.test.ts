import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceCommand } from "@mantel/plugin-sdk";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

const COMMANDS: readonly (readonly [
  id: string,
  command: DeviceCommand,
  service: string,
  data: object,
  extra?: DeviceCommand,
])[] = [
  ["reg-sofa", { on: true, brightness: 50 }, "light.turn_on", { brightness: 128 }],
  ["reg-sofa", { on: true, brightness: 0.1 }, "light.turn_on", { brightness: 1 }],
  ["reg-sofa", { on: false }, "light.turn_off", {}],
  ["reg-sofa", { colorTemperature: 4_000 }, "light.turn_on", { color_temp_kelvin: 4_000 }],
  ["reg-sofa", { color: { hue: 240, saturation: 90 } }, "light.turn_on", { hs_color: [240, 90] }],
  ["reg-sofa", { on: true, effect: "candle" }, "light.turn_on", { effect: "candle" }],
  ["switch.plug", { on: false }, "switch.turn_off", {}],
  ["cover.blind", { position: 90 }, "cover.set_cover_position", { position: 90 }],
  ["cover.blind", { stop: true }, "cover.stop_cover", {}],
  ["cover.blind", { close: true }, "cover.close_cover", {}],
  ["cover.blind", { open: true }, "cover.open_cover", {}],
  ["cover.blind", {}, "cover.close_cover_tilt", {}, { closeTilt: true }],
  ["cover.blind", { tilt: 60 }, "cover.set_cover_tilt_position", { tilt_position: 60 }],
  ["climate.hall", { targetTemperature: 21 }, "climate.set_temperature", { temperature: 21 }],
  ["climate.hall", { mode: "off" }, "climate.set_hvac_mode", { hvac_mode: "off" }],
  ["fan.hood", { speed: 75 }, "fan.set_percentage", { percentage: 75 }],
  ["lock.front", { locked: false }, "lock.unlock", {}],
  ["lock.safe", { locked: false, code: "1234" }, "lock.unlock", { code: "1234" }],
  ["lock.safe", { unlatch: true, code: "1234" }, "lock.open", { code: "1234" }],
  ["media_player.tv", { playback: "paused" }, "media_player.media_pause", {}],
  ["media_player.tv", { volume: 20 }, "media_player.volume_set", { volume_level: 0.2 }],
  ["media_player.tv", { muted: true }, "media_player.volume_mute", { is_volume_muted: true }],
  ["media_player.tv", { source: "TV" }, "media_player.select_source", { source: "TV" }],
  ["media_player.tv", { next: true }, "media_player.media_next_track", {}],
  ["media_player.tv", { previous: true }, "media_player.media_previous_track", {}],
  ["media_player.tv", { shuffle: true }, "media_player.shuffle_set", { shuffle: true }],
  ["media_player.tv", { repeat: "all" }, "media_player.repeat_set", { repeat: "all" }],
  [
    "media_player.attic",
    { group: "Kitchen" },
    "media_player.join",
    { group_members: ["media_player.attic"] },
  ],
  ["media_player.patio", { group: "Patio" }, "media_player.unjoin", {}],
  [
    "media_player.tv",
    {},
    "media_player.select_sound_mode",
    { sound_mode: "Music" },
    { soundMode: "Music" },
  ],
  ["vacuum.robo", { start: true }, "vacuum.start", {}],
  ["vacuum.robo", { pause: true }, "vacuum.pause", {}],
  ["vacuum.robo", { stop: true }, "vacuum.stop", {}],
  ["vacuum.robo", {}, "vacuum.clean_spot", {}, { cleanSpot: true }],
  ["vacuum.robo", { dock: true }, "vacuum.return_to_base", {}],
  ["vacuum.robo", { locate: true }, "vacuum.locate", {}],
  ["vacuum.robo", { fanSpeed: "high" }, "vacuum.set_fan_speed", { fan_speed: "high" }],
  ["lawn_mower.garden", { start: true }, "lawn_mower.start_mowing", {}],
  ["lawn_mower.garden", { pause: true }, "lawn_mower.pause", {}],
  ["lawn_mower.garden", { dock: true }, "lawn_mower.dock", {}],
  ["alarm_control_panel.home", { mode: "away" }, "alarm_control_panel.alarm_arm_away", {}],
  [
    "alarm_control_panel.office",
    { mode: "custom", code: "1234" },
    "alarm_control_panel.alarm_arm_custom_bypass",
    { code: "1234" },
  ],
  [
    "alarm_control_panel.office",
    { mode: "disarmed", code: "1234" },
    "alarm_control_panel.alarm_disarm",
    { code: "1234" },
  ],
  ["alarm_control_panel.office", {}, "alarm_control_panel.alarm_trigger", {}, { trigger: true }],
  ["humidifier.bedroom", { on: false }, "humidifier.turn_off", {}],
  ["humidifier.bedroom", { targetHumidity: 50 }, "humidifier.set_humidity", { humidity: 50 }],
  ["humidifier.bedroom", { mode: "sleep" }, "humidifier.set_mode", { mode: "sleep" }],
  ["water_heater.boiler", { on: false }, "water_heater.turn_off", {}],
  ["water_heater.boiler", { away: true }, "water_heater.set_away_mode", { away_mode: true }],
  [
    "water_heater.boiler",
    { mode: "heat-pump" },
    "water_heater.set_operation_mode",
    { operation_mode: "heat_pump" },
  ],
  [
    "water_heater.boiler",
    { targetTemperature: 55 },
    "water_heater.set_temperature",
    { temperature: 55 },
  ],
  ["valve.garden", { on: true }, "valve.open_valve", {}],
  ["valve.garden", { stop: true }, "valve.stop_valve", {}],
  ["valve.garden", { position: 30 }, "valve.set_valve_position", { position: 30 }],
  ["reg-update", { install: true }, "update.install", {}],
  ["text.label", { value: "Hall" }, "text.set_value", { value: "Hall" }],
  ["input_text.pin", { value: "0815" }, "input_text.set_value", { value: "0815" }],
  ["number.boiler", { value: 65 }, "number.set_value", { value: 149 }],
  ["date.holiday", { value: "2026-12-31" }, "date.set_value", { date: "2026-12-31" }],
  ["time.wake", { value: "07:15" }, "time.set_value", { time: "07:15" }],
  [
    "datetime.backup",
    { value: "2026-11-24T03:00:00+01:00" },
    "datetime.set_value",
    { datetime: "2026-11-24T03:00:00+01:00" },
  ],
  [
    "input_datetime.party",
    { value: "2026-11-28T20:00:00" },
    "input_datetime.set_datetime",
    { datetime: "2026-11-28 20:00:00" },
  ],
  ["camera.yard", {}, "camera.turn_off", {}, { turnOff: true }],
  ["input_number.level", { value: 35 }, "input_number.set_value", { value: 35 }],
  ["input_select.mode", { value: "night" }, "input_select.select_option", { option: "night" }],
  ["button.restart", { press: true }, "button.press", {}],
];

test("a command calls a service and is confirmed by the next state", async (t) => {
  const { fake, bridge } = await startHome(t);

  for (const [id, command, service, data, extra = {}] of COMMANDS) {
    await bridge.command(id, command, { extra });

    const last = fake.calls.at(-1);
    assert.deepEqual([last?.service, last?.data], [service, data], JSON.stringify(command));
  }
});

test("commands to a home in °F are converted to °F", async (t) => {
  const { fake, bridge, start } = await startHome(t);
  await bridge.end();
  fake.temperatureUnit = "°F";
  fake.change("climate.hall", {
    current_temperature: 68,
    temperature: 70,
    min_temp: 45,
    max_temp: 95,
  });
  const again = await start();
  await until(() => again.devices.has("climate.hall"));

  await again.command("climate.hall", { targetTemperature: 25 });

  assert.deepEqual(fake.calls.at(-1)?.data, { temperature: 77 });
  assert.equal(again.state("climate.hall")["targetTemperature"], 25);
});

test("an old value that arrives first does not confirm a command", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.stale = true;

  await bridge.command("reg-sofa", { on: false });

  assert.equal(bridge.state("reg-sofa")["on"], false);
});

test("a successful answer without effect does not confirm a command", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.idle = true;
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const failed = assert.rejects(bridge.command("reg-sofa", { on: false }), {
    code: "deadline_passed",
    message: "the command to light.sofa timed out after 9500 ms",
  });
  await until(() => (t.mock.timers.tick(100), fake.calls.length > 0)).catch(() => undefined);
  for (let waited = 0; waited < 10_000; waited += 100) {
    t.mock.timers.tick(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.mock.timers.reset();

  await failed;
});

test("a state confirms before Home Assistant has answered, or when it never does", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.mute = true;

  await bridge.command("reg-sofa", { on: false });

  assert.equal(fake.calls.length, 1);
});

test("a refusal by Home Assistant is reported with its own message", async (t) => {
  const { bridge } = await startHome(t);

  await assert.rejects(bridge.command("reg-sofa", { on: true, effect: "broken" }), {
    code: "bridge_down",
    message: "Home Assistant: the lamp does not answer",
  });
});

test("a lock that gets jammed ends the command with an error that says so", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.idle = true;

  for (const states of [["jammed"], ["unlocking", "jammed"]]) {
    const failed = assert.rejects(bridge.command("lock.front", { locked: false }), {
      code: "bridge_down",
      message: "lock.front is jammed",
    });
    await until(() => fake.calls.length > 0);
    fake.calls.length = 0;
    for (const state of states) fake.set("lock.front", state, { supported_features: 0 });
    await failed;
  }
});

test("a lock that was jammed before the command can be freed by it", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.set("lock.front", "jammed", { supported_features: 0 });
  await until(() => bridge.state("lock.front")["jammed"] === true);

  await bridge.command("lock.front", { locked: false });

  assert.deepEqual(bridge.state("lock.front"), { locked: false, jammed: false });
});

test("a wrong code is refused with the reason, and no code is stored or logged", async (t) => {
  const { bridge } = await startHome(t);

  for (const [id, command] of [
    ["alarm_control_panel.office", { mode: "away", code: "5678" }],
    ["lock.safe", { locked: false, code: "5678" }],
  ] as const) {
    await assert.rejects(bridge.command(id, command), {
      code: "bridge_down",
      message: "Home Assistant: Invalid alarm code provided",
    });
    assert.equal("code" in bridge.state(id), false);
  }
  await bridge.command("lock.safe", { locked: false, code: "1234" });

  assert.doesNotMatch(JSON.stringify([[...bridge.devices], bridge.logs]), /5678|1234/);
  await assert.rejects(bridge.command("lock.safe", { code: "1234" }), {
    code: "invalid",
    message: "lock.safe: code cannot be set alone",
  });
});

test("tone, volume and duration of a siren are stored until it is turned on", async (t) => {
  const { fake, bridge } = await startHome(t);

  await bridge.command("siren.hall", { volume: 40 });
  await bridge.command("siren.hall", { tone: "burglar", duration: 20 });
  const stored = bridge.state("siren.hall");
  const before = fake.calls.length;
  await bridge.command("siren.hall", { on: true, tone: "fire" });
  await bridge.command("siren.hall", { on: false });

  assert.deepEqual(stored, { on: false, tone: "burglar", volume: 40, duration: 20 });
  assert.equal(before, 0);
  assert.deepEqual(
    fake.calls.map(({ service, data }) => [service, data]),
    [
      ["siren.turn_on", { tone: "fire", volume_level: 0.4, duration: 20 }],
      ["siren.turn_off", {}],
    ],
  );
  assert.equal(bridge.state("siren.hall")["tone"], "fire");
});

test("a command that no state shows is confirmed by Home Assistant's answer and not by another change", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.slowMs = 300;
  let isDone = false;

  const done = bridge.command("media_player.tv", { next: true }).then(() => (isDone = true));
  fake.change("media_player.tv", { media_title: "Another" });
  await until(() => bridge.state("media_player.tv")["title"] === "Another");
  const wasDone = isDone;
  await done;

  assert.equal(wasDone, false);
  assert.equal(bridge.state("media_player.tv")["title"], "Next");
});

test("a device that never reports takes a command once Home Assistant has answered", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.set("cover.shed", "unknown", { assumed_state: true, supported_features: 11 });
  await until(() => bridge.devices.get("cover.shed")?.assumed);
  fake.faults.idle = true;

  await bridge.command("cover.shed", { open: true });

  assert.equal(fake.calls.at(-1)?.service, "cover.open_cover");
});

test("a feature that an entity has lost is refused with Home Assistant's reason", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.entities.set("lock.safe", { state: "locked", attributes: { supported_features: 0 } });

  await assert.rejects(bridge.command("lock.safe", { unlatch: true }), {
    code: "invalid",
    message: "Home Assistant: Entity lock.safe does not support action lock.open.",
  });
});

test("a scene is activated by one call and confirmed by its timestamp", async (t) => {
  const { fake, bridge } = await startHome(t);

  await bridge.activateScene("reg-dusk");

  assert.deepEqual(fake.calls, [{ service: "scene.turn_on", data: {}, entityId: "scene.dusk" }]);
});

test("a command during a connection loss is not repeated and can still be confirmed by the state", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.faults.mute = true;
  fake.faults.idle = true;

  const done = bridge.command("reg-sofa", { on: false });
  await until(() => fake.calls.length === 1);
  fake.faults.mute = false;
  fake.drop();
  await until(() => fake.connections === 1);
  fake.change("light.sofa", {}, "off");
  await done;

  assert.equal(fake.calls.length, 1);
});

test("a player joins by a call to the leader, and is confirmed once it reports the group", async (t) => {
  const { fake, bridge } = await startHome(t);
  const release = fake.stall("media_player.attic");
  let isDone = false;

  const done = bridge.command("media_player.attic", { group: "Kitchen" });
  void done.then(() => (isDone = true));
  await until(() => fake.calls.length > 0);
  fake.change("media_player.attic", { volume_level: 0.3 });
  await until(() => bridge.state("media_player.attic")["volume"] === 30);
  const wasDone = isDone;
  release();
  await done;

  const data = { group_members: ["media_player.attic"] };
  const entityId = "media_player.kitchen";
  assert.deepEqual(fake.calls, [{ service: "media_player.join", data, entityId }]);
  assert.equal(wasDone, false);
  assert.equal(bridge.state("media_player.attic")["group"], "Kitchen");
});

test("a player that is asked to play what it plays is not called", async (t) => {
  const { fake, bridge } = await startHome(t);

  await bridge.command("media_player.patio", { group: "Kitchen" });
  await bridge.command("media_player.kitchen", { group: "Kitchen" });

  assert.deepEqual(fake.calls, []);
});
