import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { DeviceUpdate } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ApiEvents } from "../../../host/api/events.ts";
import { Commands } from "../../../host/devices/commands.ts";
import { blind, createBridge, fanWithLight, lamp, openDevices } from "./open-devices.ts";

const ANNA: Cause = { kind: "person", id: "1", name: "Anna" };
const BEN: Cause = { kind: "token", id: "2", name: "Ben" };
const LAMP: Cause = { kind: "device", id: "demo:light:1", name: "a" };

/** A lamp, a fan and a blind, and a monotonic clock that the test moves. */
async function openHome(t: TestContext) {
  let now = 5_000;
  t.mock.method(performance, "now", () => now);
  const bridge = createBridge("b", "demo", { confirmMs: 5_000 });
  const home = await openDevices(t, [bridge]);
  await home.devices.publish("b", [lamp("a"), fanWithLight(), blind()]);
  let seen: ApiEvents["device.state"][] = [];
  home.bus.on(({ topic, data }) => {
    if (topic === "device.state") seen.push(data);
  });
  /** The causes of the events since the last call, without those of pending values. */
  const causes = () => {
    const heard = seen;
    seen = [];
    return heard.map(({ cause, causes: others }) => (others ? [cause, others] : cause));
  };
  const report = (update: Omit<DeviceUpdate, "nativeId">, nativeId = "a") =>
    home.devices.update("b", [{ nativeId, ...update }]);
  const pass = (ms: number) => (now += ms);
  return { ...home, bridge, commands: new Commands(home), causes, report, pass };
}

test("a change that no command asked for is caused by the device", async (t) => {
  const { report, causes } = await openHome(t);

  await report({ state: { on: true } });

  assert.deepEqual(causes(), [LAMP]);
});

test("a change that a command in flight asked for has the cause of the command", async (t) => {
  const { bridge, commands, report, causes } = await openHome(t);
  bridge.answer = () => report({ state: { on: true } });

  const { cause } = await commands.send("demo:light:1", { on: true }, { cause: ANNA }).done;

  assert.deepEqual(cause, ANNA);
  assert.deepEqual(causes(), [ANNA, ANNA, ANNA]); // pending, changed, confirmed
});

test("a change that the command did not ask for is still the device's own", async (t) => {
  const { bridge, commands, report, causes } = await openHome(t);
  bridge.answer = () => report({ state: { on: true, power: 12 } });

  await commands.send("demo:light:1", { on: true }, { cause: ANNA }).done;

  assert.deepEqual(causes()[1], [ANNA, { power: LAMP }]);
});

test("a report within the confirm time of a confirmed command belongs to it, and a later one does not", async (t) => {
  const { commands, report, causes, pass } = await openHome(t);
  await commands.send("demo:light:1", { brightness: 60 }, { cause: ANNA }).done;
  causes();

  pass(4_999);
  await report({ state: { brightness: 50, on: true } });
  pass(1);
  await report({ state: { brightness: 60 } });

  assert.deepEqual(causes(), [ANNA, LAMP]);
});

test("a refused command causes nothing, and one without an answer may still cause a change", async (t) => {
  const { bridge, commands, report, causes } = await openHome(t);
  const after = async (error: Error) => {
    bridge.answer = () => Promise.reject(error);
    await commands
      .send("demo:light:1", { brightness: 60 }, { cause: ANNA })
      .done.catch(() => undefined);
    causes();
    await report({ state: { brightness: Math.random() } });
    return causes();
  };

  assert.deepEqual(await after(new MantelError("bridge_rate_limited", "busy")), [LAMP]);
  assert.deepEqual(await after(new MantelError("deadline_passed", "late")), [ANNA]);
});

test("of merged commands each value has the cause of its last sender", async (t) => {
  const { bridge, commands, report, causes } = await openHome(t);
  let confirm = (): void => undefined;
  bridge.answer = () => new Promise((resolve) => (confirm = resolve));
  const sent = commands.send("demo:light:1", { on: true }, { cause: LAMP }).done;
  const merged = [
    commands.send("demo:light:1", { brightness: 10, effect: "candle" }, { cause: ANNA }).done,
    commands.send("demo:light:1", { brightness: 20 }, { cause: BEN }).done,
  ];
  bridge.answer = () => report({ state: { brightness: 20, effect: "candle" } });
  confirm();
  await sent;

  const outcomes = await Promise.all(merged);

  assert.deepEqual(
    outcomes.map(({ cause }) => cause),
    [ANNA, BEN],
  );
  assert.deepEqual(causes().find(Array.isArray), [ANNA, { brightness: BEN }]);
});

test("values of parts and extras have their own causes", async (t) => {
  const { commands, report, causes } = await openHome(t);
  const fan = "demo:fan:1";
  await commands.send(fan, { parts: { light: { on: true } } }, { cause: ANNA }).done;
  await commands.send(fan, { extra: { childLock: true } }, { cause: BEN }).done;
  causes();

  await report({ state: { on: true }, parts: { light: { on: true } } }, "fan");
  await report({ extra: { childLock: true } }, "fan");

  const own: Cause = { kind: "device", id: fan, name: "Fan" };
  assert.deepEqual(causes(), [[ANNA, { on: own }], BEN]);
});

test("the movement of a blind is caused by the command that opened it", async (t) => {
  const { commands, report, causes } = await openHome(t);
  await commands.send("demo:cover:1", { open: true }, { cause: ANNA }).done;
  causes();

  await report({ state: { position: 55 } }, "blind");

  assert.deepEqual(causes(), [ANNA]);
});

test("a bridge that goes down is the cause that its devices are not available", async (t) => {
  const { bridge, devices, causes } = await openHome(t);

  bridge.status = "down";
  devices.bridgeChanged("b");

  const module: Cause = { kind: "module", id: "b", name: "b" };
  assert.deepEqual(causes().slice(0, 1), [module]);
});

test("a command without a name leaves the device as the cause", async (t) => {
  const { bridge, commands, report, causes } = await openHome(t);
  bridge.answer = () => report({ state: { on: true } });

  const outcome = await commands.send("demo:light:1", { on: true }).done;

  assert.equal("cause" in outcome, false);
  assert.deepEqual(causes()[1], LAMP);
});
