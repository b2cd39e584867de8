import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../../../../host/dashboard/settings/scene-command.ts";

const capabilities = {
  on: { type: "boolean" },
  brightness: { type: "number", min: 0, max: 100 },
  power: { type: "number", readOnly: true },
} as const;

test("a scene only turns off a lamp that is off, without a level", () => {
  const command = commandOf({ capabilities, state: { on: false, brightness: 40, power: 0 } });

  assert.deepEqual(command, { on: false });
});

test("read-only and unknown values are not part of a command", () => {
  const command = commandOf({ capabilities, state: { on: true, brightness: null, power: 8 } });

  assert.deepEqual(command, { on: true });
});

test("no command is derived from a sensor", () => {
  const { power } = capabilities;

  assert.deepEqual(commandOf({ capabilities: { power }, state: { power: 3 } }), {});
});
