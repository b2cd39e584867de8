import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { colorLight, device, idOf } from "../../fakes/hue-home.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { LOAD, until } from "../../helpers/until.ts";
import { DESK, DIAL, HALL, startHue, startOver } from "./start-hue.ts";

const LIGHT = idOf("lamp-1-light-0");
const loads = (bridge: { asked: readonly { path: string }[] }) =>
  bridge.asked.filter(({ path }) => path === "/clip/v2/resource").length;
const press = (event: string, updated: string) => ({
  button: { last_event: event, button_report: { event, updated } },
});

test("changes in the home are shown", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.change(LIGHT, { on: { on: true }, dimming: { brightness: 12.3 } });
  bridge.change(idOf("motion-1-motion-0"), {
    motion: { motion: true, motion_report: { motion: true } },
  });
  bridge.change(idOf("motion-1-radio"), { status: "disconnected" });
  await until(() => plugin.devices.get(HALL)?.available === false);

  assert.equal(plugin.state(DESK)["on"], true);
  assert.equal(plugin.state(DESK)["brightness"], 12);
  assert.equal(plugin.state(HALL)["motion"], true);
  assert.equal(plugin.state(HALL)["temperature"], 18.14);
});

test("each new press is an event, also with the same value, and a repeated message is not", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.change(idOf("dial-1-button-1"), press("short_release", "2026-11-20T12:00:00.100Z"));
  bridge.change(idOf("dial-1-button-1"), press("short_release", "2026-11-20T12:00:00.900Z"));
  bridge.change(idOf("dial-1-button-1"), press("short_release", "2026-11-20T12:00:00.900Z"));
  const rotation = { direction: "clock_wise", steps: 30, duration: 400 };
  bridge.change(idOf("dial-1-relative-rotary-2"), {
    relative_rotary: {
      rotary_report: { action: "start", rotation, updated: "2026-11-20T12:00:02.000Z" },
    },
  });
  await until(() => plugin.state(DIAL)["lastAction"] === "rotate_clockwise");

  assert.deepEqual(
    plugin.events.map(({ nativeId, event, data }) => [nativeId, event, data]),
    [
      [DIAL, "button_2_short_release", {}],
      [DIAL, "button_2_short_release", {}],
      [DIAL, "rotate_clockwise", { steps: 30, durationMs: 400 }],
    ],
  );
});

test("the first press of a button that was never pressed is an event", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.change(idOf("dial-1-button-1"), press("initial_press", "none"));
  await until(() => plugin.state(DIAL)["lastAction"] === "button_2_initial_press");
  bridge.change(idOf("dial-1-button-1"), press("short_release", "2026-11-20T12:00:00.100Z"));
  await until(() => plugin.state(DIAL)["lastAction"] === "button_2_short_release");

  assert.equal(plugin.events.at(-1)?.event, "button_2_short_release");
});

test("joins, renames and leaves of devices are detected, and a returning device is the same", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const mac = "00:17:88:01:02:03:04:99";
  const lamp = (id: string, name: string) => device({ id, name, mac, services: [colorLight()] });

  bridge.add(...lamp("lamp-9", "Attic"));
  await until(() => plugin.devices.get(`${mac}/light`)?.name === "Attic");
  bridge.change(idOf("lamp-9"), { metadata: { name: "Cellar" } });
  await until(() => plugin.devices.get(`${mac}/light`)?.name === "Cellar");
  bridge.remove(idOf("lamp-9"), idOf("lamp-9-light-0"), idOf("lamp-9-radio"));
  await until(() => !plugin.devices.has(`${mac}/light`));

  bridge.add(...lamp("lamp-10", "Cellar"));
  await until(() => plugin.devices.has(`${mac}/light`));
  await plugin.command(`${mac}/light`, { on: true });
});

test("an ended stream is resumed at its position without reading everything again", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.change(LIGHT, { dimming: { brightness: 10 } });
  await until(() => plugin.state(DESK)["brightness"] === 10);

  bridge.cut();
  bridge.change(LIGHT, { dimming: { brightness: 20 } });
  await until(() => plugin.state(DESK)["brightness"] === 20);

  assert.equal(loads(bridge), 1);
  assert.deepEqual([...bridge.streams.values()], ["1700000000:2"]);
  assert.equal(plugin.degraded, undefined);
});

test("after a longer gap everything is read again", async (t) => {
  const { plugin, bridge } = await startHue(t, { times: { forgotten: 0 } });
  bridge.change(LIGHT, { dimming: { brightness: 10 } });
  await until(() => plugin.state(DESK)["brightness"] === 10);

  bridge.cut();

  await until(() => loads(bridge) === 2);
});

test("a silent stream is opened again after the time limit", async (t) => {
  const { plugin, bridge } = await startHue(t, { times: { silent: 200 * LOAD } });
  const [first = assert.fail()] = bridge.streams.keys();

  await until(() => bridge.streams.size > 0 && !bridge.streams.has(first));

  assert.equal(plugin.degraded, undefined);
});

test("no requests are sent while no bridge is paired", async (t) => {
  onTestEnd(t, watchResources());

  const plugin = await startOver(t, []);

  assert.equal(plugin.degraded, "no bridge is paired yet");
  await delay(10);
  assert.equal(plugin.devices.size, 0);
});
