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
])[] = [
  ["reg-sofa", { on: true, brightness: 50 }, "light.turn_on", { brightness: 128 }],
  ["reg-sofa", { on: true, brightness: 0.1 }, "light.turn_on", { brightness: 1 }],
  ["reg-sofa", { on: false }, "light.turn_off", {}],
  ["reg-sofa", { colorTemperature: 4_000 }, "light.turn_on", { color_temp_kelvin: 4_000 }],
  ["reg-sofa", { color: { hue: 240, saturation: 90 } }, "light.turn_on", { hs_color: [240, 90] }],
  ["reg-sofa", { on: true, effect: "candle" }, "light.turn_on", { effect: "candle" }],
  ["switch.plug", { on: false }, "switch.turn_off", {}],
  ["cover.blind", { position: 90 }, "cover.set_cover_position", { position: 90 }],
  ["cover.blind", { moving: "stopped" }, "cover.stop_cover", {}],
  ["cover.blind", { tilt: 60 }, "cover.set_cover_tilt_position", { tilt_position: 60 }],
  ["climate.hall", { targetTemperature: 21 }, "climate.set_temperature", { temperature: 21 }],
  ["climate.hall", { mode: "off" }, "climate.set_hvac_mode", { hvac_mode: "off" }],
  ["fan.hood", { speed: 75 }, "fan.set_percentage", { percentage: 75 }],
  ["lock.front", { locked: false }, "lock.unlock", {}],
  ["media_player.tv", { playback: "paused" }, "media_player.media_pause", {}],
  ["media_player.tv", { volume: 20 }, "media_player.volume_set", { volume_level: 0.2 }],
  ["media_player.tv", { muted: true }, "media_player.volume_mute", { is_volume_muted: true }],
  ["media_player.tv", { source: "TV" }, "media_player.select_source", { source: "TV" }],
  ["media_player.tv", { skip: "next" }, "media_player.media_next_track", {}],
  ["vacuum.robo", { action: "start" }, "vacuum.start", {}],
  ["alarm_control_panel.home", { mode: "away" }, "alarm_control_panel.alarm_arm_away", {}],
  ["input_number.level", { value: 35 }, "input_number.set_value", { value: 35 }],
  ["input_select.mode", { value: "night" }, "input_select.select_option", { option: "night" }],
  ["button.restart", { press: "press" }, "button.press", {}],
];

test("a command calls a service and is confirmed by the next state", async (t) => {
  const { fake, bridge } = await startHome(t);

  for (const [id, command, service, data] of COMMANDS) {
    await bridge.command(id, command);

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

test("locks and alarms that need a code are shown and accept no commands", async (t) => {
  const { bridge } = await startHome(t);

  const { locked } = bridge.devices.get("lock.safe")?.capabilities ?? {};
  assert.deepEqual(locked, { type: "boolean", readOnly: true });
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
