import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startHueBridge } from "../../fakes/hue-bridge.ts";
import { colorLight, device, type FakeResource, home } from "../../fakes/hue-home.ts";
import { atEnd } from "../../helpers/at-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { DESK, DIAL, HALL, SHELF, startHue, startOver } from "./start-hue.ts";

const LIGHT = "lamp-1-light-0";
const SHELF_LIGHT = "lamp-2-light-0";
const loads = (bridge: { asked: readonly { path: string }[] }) =>
  bridge.asked.filter(({ path }) => path === "/clip/v2/resource").length;
const press = (event: string, updated: string) => ({
  button: { last_event: event, button_report: { event, updated } },
});

test("what changes in the home is shown", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.change(LIGHT, { on: { on: true }, dimming: { brightness: 12.3 } });
  bridge.change("motion-1-motion-0", { motion: { motion: true, motion_report: { motion: true } } });
  bridge.change("motion-1-radio", { status: "disconnected" });
  await until(() => plugin.devices.get(HALL)?.available === false);

  assert.equal(plugin.state(DESK)["on"], true);
  assert.equal(plugin.state(DESK)["brightness"], 12);
  assert.equal(plugin.state(HALL)["motion"], true);
  assert.equal(plugin.state(HALL)["temperature"], 18.14);
});

test("a press is an event, the same press again is another, and one that was heard is none", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.change("dial-1-button-1", press("short_release", "2026-11-20T12:00:00.100Z"));
  bridge.change("dial-1-button-1", press("short_release", "2026-11-20T12:00:00.900Z"));
  bridge.change("dial-1-button-1", press("short_release", "2026-11-20T12:00:00.900Z"));
  const rotation = { direction: "clock_wise", steps: 30, duration: 400 };
  bridge.change("dial-1-relative-rotary-2", {
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

test("devices that join, are renamed and leave are followed, and one that returns is the same", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const mac = "00:17:88:01:02:03:04:99";
  const lamp = (id: string, name: string) => device({ id, name, mac, services: [colorLight()] });

  bridge.add(...lamp("lamp-9", "Attic"));
  await until(() => plugin.devices.get(`${mac}/light`)?.name === "Attic");
  bridge.change("lamp-9", { metadata: { name: "Cellar" } });
  await until(() => plugin.devices.get(`${mac}/light`)?.name === "Cellar");
  bridge.remove("lamp-9", "lamp-9-light-0", "lamp-9-radio");
  await until(() => !plugin.devices.has(`${mac}/light`));

  bridge.add(...lamp("lamp-10", "Cellar"));
  await until(() => plugin.devices.has(`${mac}/light`));
  await plugin.command(`${mac}/light`, { on: true });
});

test("a stream that ends is resumed where it was, and nothing is read anew", async (t) => {
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

test("after a longer gap everything is read anew", async (t) => {
  const { plugin, bridge } = await startHue(t, { times: { forgotten: 0 } });
  bridge.change(LIGHT, { dimming: { brightness: 10 } });
  await until(() => plugin.state(DESK)["brightness"] === 10);

  bridge.cut();

  await until(() => loads(bridge) === 2);
});

test("a stream that is silent for too long is opened again", async (t) => {
  const { plugin, bridge } = await startHue(t, { times: { silent: 200 } });
  const [first] = bridge.streams.keys();

  await until(() => bridge.streams.size > 0 && !bridge.streams.has(first as never));

  assert.equal(plugin.degraded, undefined);
});

test("a bridge that is away takes no commands and no device along, and is current when it is back", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const { size } = plugin.devices;

  await bridge.stop();
  await until(() => plugin.degraded !== undefined);
  assert.equal(plugin.degraded, `bridge ${bridge.id}: nothing listens there`);
  assert.equal(plugin.devices.size, size);
  assert.ok([...plugin.devices.values()].every(({ available }) => available === false));
  await assert.rejects(plugin.command(DESK, { on: true }), {
    code: "bridge_down",
    message: `${bridge.id}: nothing listens there`,
  });

  bridge.change(LIGHT, { on: { on: true } });
  await bridge.start();
  await until(() => plugin.degraded === undefined);
  assert.equal(plugin.state(DESK)["on"], true);
  assert.equal(plugin.devices.get(DESK)?.available, true);
});

test("a bridge that dies without a word is noticed at the next command", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.fault = "never";

  await assert.rejects(plugin.command(DESK, { on: true }), { code: "deadline_passed" });

  await until(() => plugin.degraded !== undefined);
  assert.equal(plugin.degraded, `bridge ${bridge.id}: it does not answer within 2500 ms`);
});

test("a certificate that has changed is refused by a sentence with both, and the key is not sent", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const { fingerprint } = bridge;
  bridge.asked.length = 0;

  await bridge.changeCertificate();
  await until(() => plugin.degraded?.includes("certificate"));

  assert.ok(plugin.degraded?.includes(fingerprint));
  assert.ok(plugin.degraded?.includes(bridge.fingerprint));
  assert.match(plugin.degraded ?? "", /pair it again/);
  assert.deepEqual(bridge.asked, []);
  assert.equal(bridge.streams.size, 0);
});

for (const [fault, reason] of [
  ["half", /does not answer within 2000 ms/],
  ["garbage", /answers with what is no answer of a bridge/],
  ["huge", /answers with more than 4194304 bytes/],
  ["busy", /it is busy: resource temporarily unavailable/],
  ["throttling", /asks to be asked less often/],
] as const) {
  test(`a bridge that starts out ${fault} is told of, and followed when it has recovered`, async (t) => {
    atEnd(t, watchResources());
    const bridge = await startHueBridge(t);
    bridge.fault = fault;
    const plugin = await startOver(t, [bridge]);
    await until(() => reason.test(plugin.degraded ?? ""));
    assert.equal(plugin.devices.size, 0);

    bridge.fault = undefined;

    await until(() => plugin.degraded === undefined);
    assert.equal(plugin.devices.size, 8);
  });
}

test("garbage on the event stream is counted and named once, and the rest goes on", async (t) => {
  const { plugin, bridge } = await startHue(t);

  const parts = ["data: {oh\n\n", "data: [1,null,{}]\n\n", "data: 7\n\n", "id:\nnonsense\n\n"];
  for (let i = 0; i < 1_000; i++) bridge.sendRaw(parts[i % parts.length] ?? "");
  bridge.sendRaw(`data: [{"type":"update","data":[{"id":"../../x","type":"light"},{"id":7}]}]\n\n`);
  bridge.change(LIGHT, { dimming: { brightness: "many" }, on: { on: true }, color: { xy: [1] } });
  await until(() => plugin.state(DESK)["on"] === true);

  assert.equal(plugin.state(DESK)["brightness"], null);
  const warned = plugin.logs.filter(({ level }) => level === "warn");
  assert.deepEqual(
    warned.map(({ sentence }) => sentence),
    ["a bridge sends what cannot be read"],
  );
});

test("a device that announces itself ten thousand times is one device", async (t) => {
  const { plugin, bridge } = await startHue(t, { resources: largeHome() });
  const { size } = plugin.devices;
  const lamp = bridge.resources.get("lamp-1");
  const busyBefore = process.cpuUsage();

  const container = [{ type: "add", data: [lamp] }];
  bridge.sendRaw(`data: ${JSON.stringify(container)}\n\n`.repeat(10_000));
  bridge.change(LIGHT, { on: { on: true } });
  await until(() => plugin.state(DESK)["on"] === true, { withinMs: 20_000 });

  assert.equal(plugin.devices.size, size);
  const busyMs = process.cpuUsage(busyBefore).user / 1_000;
  t.diagnostic(`${size} devices, 10,000 announcements: ${Math.round(busyMs)} ms`);
  assert.ok(busyMs < 10_000);
});

test("an event without an end closes the stream, which is opened again", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.sendRaw("data: ");

  for (let i = 0; i < 24; i++) bridge.sendRaw("x".repeat(100_000));
  await until(() => bridge.streams.size === 0);
  await until(() => bridge.streams.size === 1);
  bridge.change(LIGHT, { on: { on: true } });

  await until(() => plugin.state(DESK)["on"] === true);
});

test("a reload shows the same at once, and misses nothing", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.change(LIGHT, { dimming: { brightness: 10 } });
  await until(() => plugin.state(DESK)["brightness"] === 10);
  const before = structuredClone([...plugin.devices]);

  const handedOver = JSON.parse(JSON.stringify(await plugin.stop())) as unknown;
  bridge.change(LIGHT, { dimming: { brightness: 20 } });
  bridge.fault = "never";
  const next = await startOver(t, [bridge], { handedOver });

  assert.deepEqual([...next.devices], before);
  bridge.fault = undefined;
  await until(() => next.state(DESK)["brightness"] === 20);
  assert.equal(loads(bridge), 1);
});

test("a reload in a quiet night shows the same at once, and reads everything anew", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const before = structuredClone([...plugin.devices]);
  const handedOver = await plugin.stop();
  bridge.fault = "never";

  const next = await startOver(t, [bridge], { handedOver, forgotten: 0 });
  assert.deepEqual([...next.devices], before);
  assert.equal(next.degraded, undefined);

  bridge.fault = undefined;
  await until(() => loads(bridge) === 2);
});

test("two bridges are one house, and a light that moved is that of the bridge which reaches it", async (t) => {
  atEnd(t, watchResources());
  const first = await startHueBridge(t, { id: "001788fffe000001" });
  const shelf = home().filter(({ id }) => id.startsWith("lamp-2"));
  const resources = shelf.map((each) => ({ ...each, id: each.id }));
  const second = await startHueBridge(t, { id: "001788fffe000002", resources });
  second.change("lamp-2", { metadata: { name: "Shelf at the second" } });
  first.change("lamp-2-radio", { status: "disconnected" });
  const plugin = await startOver(t, [first, second]);
  await until(() => plugin.devices.get(SHELF)?.available === true);

  await plugin.command(SHELF, { on: true });
  assert.equal(plugin.devices.get(SHELF)?.name, "Shelf at the second");
  assert.equal(second.changesOf("lamp-2-light-0").length, 1);

  await second.stop();
  await until(() => plugin.degraded === `bridge ${second.id}: nothing listens there`);
  await plugin.command(DESK, { on: true });
});

test("nothing is asked of anybody while no bridge is paired", async (t) => {
  atEnd(t, watchResources());

  const plugin = await startOver(t, []);

  assert.equal(plugin.degraded, "no bridge is paired yet");
  await delay(10);
  assert.equal(plugin.devices.size, 0);
});

test("a bridge that its router has moved is found again, and only by its certificate", async (t) => {
  const { plugin: before, bridge } = await startHue(t);
  const handedOver = await before.stop();
  const impostor = await startHueBridge(t);
  const moved = bridge.options;
  const elsewhere = { ...moved, address: "127.0.0.1:9" };
  let address = impostor.address;
  const find = () => Promise.resolve([{ id: bridge.id, address }]);

  const plugin = await startOver(t, [{ id: bridge.id, options: elsewhere }], { handedOver, find });
  await until(() => plugin.degraded?.includes("its certificate has changed"));
  address = bridge.address;
  await until(() => plugin.degraded === undefined);

  await plugin.command(DESK, { on: true });
  assert.equal(impostor.streams.size, 0);
});

test("a bridge that restarts again and again is current soon after, and no command comes twice", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const begun: Promise<unknown>[] = [];
  for (let restart = 1; restart <= 10; restart++) {
    begun.push(plugin.command(DESK, { on: true, brightness: restart }).catch(() => undefined));
    await bridge.stop();
    bridge.change(SHELF_LIGHT, { dimming: { brightness: restart } });
    await bridge.start();

    await until(
      () => plugin.degraded === undefined && plugin.state(SHELF)["brightness"] === restart,
    );
  }

  await Promise.all(begun);
  const levels = bridge.changesOf(LIGHT).map(({ dimming }) => JSON.stringify(dimming));
  assert.equal(new Set(levels).size, levels.length);
});

/** Some 300 lamps beside the usual ones. */
function largeHome(): FakeResource[] {
  const lamps = Array.from({ length: 300 }, (_, n) => {
    const mac = `00:17:88:01:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
    return device({ id: `more-${n}`, name: `Lamp ${n}`, mac, services: [colorLight()] });
  });
  return [...home(), ...lamps.flat()];
}
