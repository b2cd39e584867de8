import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
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
  mockAgain(t, performance, "now", () => now);
  const levels = new LevelMemory();
  return {
    pass: (ms: number) => (now += ms),
    send: (device: typeof LAMP | undefined, command: Record<string, boolean | number>) =>
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

test("a drag that comes back from off ends where it ends", (t) => {
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
