import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../../../../host/dashboard/settings/scene-command.ts";

const capabilities = {
  on: { type: "boolean" },
  brightness: { type: "number", min: 0, max: 100 },
  power: { type: "number", readOnly: true },
} as const;

test("a lamp that is off is only turned off, and its level is left alone", () => {
  const command = commandOf({ capabilities, state: { on: false, brightness: 40, power: 0 } });

  assert.deepEqual(command, { on: false });
});

test("what is only read, or not known, is in no command", () => {
  const command = commandOf({ capabilities, state: { on: true, brightness: null, power: 8 } });

  assert.deepEqual(command, { on: true });
});

test("a sensor gives no command", () => {
  const { power } = capabilities;

  assert.deepEqual(commandOf({ capabilities: { power }, state: { power: 3 } }), {});
});
