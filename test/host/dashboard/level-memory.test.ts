import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { CommandBody } from "@mantel/plugin-sdk/device";
import { LevelMemory } from "../../../host/dashboard/level-memory.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mockAgain } from "../../helpers/mock-again.ts";

const LEVEL = { type: "number", min: 0, max: 100, unit: "%" } as const;
const LAMP = deviceOf({
  capabilities: { on: { type: "boolean" }, brightness: LEVEL },
  state: { on: true, brightness: 80 },
});
const LOW = { ...LAMP, state: { on: false, brightness: 3 } };

function memory(t: TestContext) {
  let now = 0;
  let held: number | undefined;
  mockAgain(t, performance, "now", () => now);
  const levels = new LevelMemory(() => held);
  return {
    hold: (press: number | undefined) => (held = press),
    pass: (ms: number) => (now += ms),
    send: (device: typeof LAMP | undefined, command: CommandBody) =>
      levels.complete(device, command),
  };
}

test("after a drag to off, a tap turns the lamp on as bright as before the drag", (t) => {
  const { pass, send } = memory(t);
  for (const brightness of [60, 30, 3]) {
    send(LAMP, { brightness });
    pass(100);
  }
  const off = send(LAMP, { brightness: 0 });
  pass(60_000);

  assert.deepEqual(off, { brightness: 0 });
  assert.deepEqual(send(LOW, { on: true }), { on: true, brightness: 80 });
  assert.deepEqual(send(LOW, { on: true }), { on: true }, "once");
});

test("a drag to off and back up keeps the level at which it ends", (t) => {
  const { pass, send } = memory(t);
  send(LAMP, { brightness: 10 });
  send(LAMP, { brightness: 0 });
  pass(200);
  send(LAMP, { brightness: 25 });
  pass(60_000);
  send(LAMP, { on: false });

  assert.deepEqual(send(LOW, { on: true }), { on: true });
});

test("a lamp that was switched off keeps its level by itself", (t) => {
  const { pass, send } = memory(t);
  send(LAMP, { brightness: 40 });
  pass(60_000);
  send(LAMP, { on: false });

  assert.deepEqual(send(LOW, { on: true }), { on: true });
});

test("a command with a level of its own is left as it is, and so is one for anything without a level", (t) => {
  const { send } = memory(t);
  send(LAMP, { brightness: 10 });
  send(LAMP, { on: false });

  assert.deepEqual(send(LOW, { on: true, brightness: 5 }), { on: true, brightness: 5 });
  assert.deepEqual(send(deviceOf(), { on: true }), { on: true });
  assert.deepEqual(send(undefined, { on: true }), { on: true });
});

test("a drag that pauses under a finger is one drag", (t) => {
  const { hold, pass, send } = memory(t);
  hold(1);
  send(LAMP, { brightness: 5 });
  pass(60_000);
  send({ ...LAMP, state: { on: true, brightness: 5 } }, { brightness: 0 });
  hold(undefined);
  pass(60_000);

  assert.deepEqual(send(LOW, { on: true }), { on: true, brightness: 80 });
});

test("a later drag has the level that it began with", (t) => {
  const { hold, pass, send } = memory(t);
  hold(1);
  send(LAMP, { brightness: 30 });
  hold(2);
  pass(60_000);
  send({ ...LAMP, state: { on: true, brightness: 30 } }, { brightness: 4 });
  send(LOW, { on: false });
  hold(undefined);

  assert.deepEqual(send(LOW, { on: true }), { on: true, brightness: 30 });
});

test("the light of a fan keeps its level as a lamp does", (t) => {
  const { send } = memory(t);
  const { capabilities, state } = LAMP;
  const light = {
    id: "light",
    kind: "light",
    name: "Light",
    capabilities,
    state,
    pending: {},
  } as const;
  const fan = deviceOf({ kind: "fan", capabilities: {}, parts: [light] });
  send(fan, { parts: { light: { brightness: 7 } } });
  send(fan, { parts: { light: { on: false } } });

  assert.deepEqual(send(fan, { parts: { light: { on: true } } }), {
    parts: { light: { on: true, brightness: 80 } },
  });
});
