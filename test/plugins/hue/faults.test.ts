import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { startHueBridge } from "../../fakes/hue-bridge.ts";
import { colorLight, device, type FakeResource, home, idOf } from "../../fakes/hue-home.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { DESK, startHue, startOver } from "./start-hue.ts";

const LIGHT = idOf("lamp-1-light-0");

test("an unreachable bridge refuses commands, keeps its devices, and is current after its return", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const { size } = plugin.devices;

  await bridge.stop();
  const reason = `bridge ${bridge.id}: nothing listens there: is it on, and is that its address?`;
  await until(() => plugin.degraded === reason);
  assert.equal(plugin.devices.size, size);
  assert.ok([...plugin.devices.values()].every(({ available }) => available === false));
  await assert.rejects(plugin.command(DESK, { on: true }), {
    code: "bridge_down",
    message: reason.replace("bridge ", ""),
  });

  bridge.change(LIGHT, { on: { on: true } });
  await bridge.start();
  await until(() => plugin.degraded === undefined);
  assert.equal(plugin.state(DESK)["on"], true);
  assert.equal(plugin.devices.get(DESK)?.available, true);
});

test("a bridge that fails silently is detected at the next command", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.fault = "never";

  await assert.rejects(plugin.command(DESK, { on: true }), { code: "deadline_passed" });

  await until(() => plugin.degraded !== undefined);
  assert.equal(
    plugin.degraded,
    `bridge ${bridge.id}: it does not answer within 2500 ms: restart it if that lasts`,
  );
});

for (const fault of ["half", "cut", "never"] as const) {
  test(`a bridge that sends events but answers requests with ${fault} is degraded until it recovers`, async (t) => {
    const { plugin, bridge } = await startHue(t);
    bridge.fault = fault;

    await assert.rejects(plugin.command(DESK, { on: true }));
    await until(() => /restart it if that lasts/.test(plugin.degraded ?? ""), { withinMs: 10_000 });
    assert.equal(plugin.devices.get(DESK)?.available, false);
    bridge.fault = undefined;
    bridge.change(LIGHT, { dimming: { brightness: 20 } });
    await until(() => plugin.degraded === undefined);

    await plugin.command(DESK, { on: true });
    assert.equal(plugin.state(DESK)["brightness"], 20);
  });
}

test("a server that accepts connections but never identifies itself is disconnected", async (t) => {
  const deaf = createServer();
  await once(deaf.listen(0, "127.0.0.1"), "listening");
  onTestEnd(t, async () => void deaf.close());
  const { port } = deaf.address() as AddressInfo;
  const options = {
    address: `127.0.0.1:${port}`,
    fingerprint: "0".repeat(64),
    applicationKey: "k",
  };

  const plugin = await startOver(t, [{ id: "001788fffe123456", options }]);

  await until(
    () => plugin.degraded !== undefined && !plugin.degraded.includes("has not answered yet"),
  );
  assert.match(plugin.degraded ?? "", /it does not answer within 2500 ms: restart it/);
});

test("a changed certificate is reported, also while the old stream is open", async (t) => {
  const { plugin, bridge } = await startHue(t);

  bridge.showAnother();
  await assert.rejects(plugin.command(DESK, { on: true }));

  await until(() => plugin.degraded?.includes("its certificate has changed"));
  assert.match(plugin.degraded ?? "", /pair it again/);
  assert.deepEqual(bridge.changesOf(LIGHT), []);
});

test("a changed certificate is refused, the message names both, and the key is not sent", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const { fingerprint } = bridge;
  bridge.asked.length = 0;

  await bridge.reset();
  await until(() => plugin.degraded?.includes("certificate"));

  assert.ok(plugin.degraded?.includes(fingerprint));
  assert.ok(plugin.degraded?.includes(bridge.fingerprint));
  assert.match(plugin.degraded ?? "", /pair it again/);
  assert.deepEqual(bridge.asked, []);
  assert.equal(bridge.streams.size, 0);
});

for (const [fault, reason] of [
  ["half", /does not answer within 2000 ms: restart it/],
  ["cut", /it hung up: restart it/],
  [
    "garbage",
    /answers with something that is not an answer of a bridge: does its address lead to something else/,
  ],
  ["huge", /answers with more than 4194304 bytes/],
  ["busy", /it is busy: resource temporarily unavailable/],
  ["throttling", /asks to be asked less often/],
] as const) {
  test(`a bridge that starts ${fault} is reported, and works after its recovery`, async (t) => {
    onTestEnd(t, watchResources());
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

test("garbage on the event stream is counted and reported once, and other events are handled", async (t) => {
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
    ["a bridge sends invalid data"],
  );
});

test("ten thousand announcements of one device make one device", async (t) => {
  const { plugin, bridge } = await startHue(t, { resources: largeHome() });
  const { size } = plugin.devices;
  const lamp = bridge.resources.get(idOf("lamp-1"));
  const announcement = `data: ${JSON.stringify([{ type: "add", data: [lamp] }])}\n\n`;
  /** The processor time (ms) of so many announcements and of the change behind them. */
  const costOf = async (count: number, on: boolean) => {
    const before = process.cpuUsage();
    bridge.sendRaw(announcement.repeat(count));
    bridge.change(LIGHT, { on: { on } });
    await until(() => plugin.state(DESK)["on"] === on, { withinMs: 20_000 });
    return process.cpuUsage(before).user / 1_000;
  };

  const [few, many] = [await costOf(1_000, true), await costOf(10_000, false)];

  assert.equal(plugin.devices.size, size);
  t.diagnostic(`${size} devices: 1,000 ${Math.round(few)} ms, 10,000 ${Math.round(many)} ms`);
  assert.ok(many < 40 * few, "ten times as many cost about ten times as much");
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

/** Some 300 lamps beside the usual ones. */
function largeHome(): FakeResource[] {
  const lamps = Array.from({ length: 300 }, (_, n) => {
    const mac = `00:17:88:01:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
    return device({ id: `more-${n}`, name: `Lamp ${n}`, mac, services: [colorLight()] });
  });
  return [...home(), ...lamps.flat()];
}
