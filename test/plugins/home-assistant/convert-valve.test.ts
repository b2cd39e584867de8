import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const COMMAND = { type: "command" } as const;
const ACTION = {
  type: "choice",
  values: ["opening", "closing", "stopped"],
  readOnly: true,
} as const;

for (const [attributes, more] of [
  [{}, {}],
  [{ supported_features: 3 }, { on: SWITCH, open: COMMAND, close: COMMAND }],
  [{ supported_features: 1 }, { open: COMMAND }],
  [{ supported_features: 4 }, { position: PERCENT }],
  [{ current_position: 10 }, { position: { ...PERCENT, readOnly: true } }],
  [{ supported_features: 8 }, { stop: COMMAND }],
] as const) {
  test(`a valve with ${JSON.stringify(attributes)} has ${JSON.stringify(Object.keys(more))}`, () => {
    assert.deepEqual(capabilities("valve", attributes), {
      on: { ...SWITCH, readOnly: true },
      action: ACTION,
      ...more,
    });
  });
}

for (const [state, on, action] of [
  ["open", true, "stopped"],
  ["opening", undefined, "opening"],
  ["closing", undefined, "closing"],
  ["closed", false, "stopped"],
  ["unknown", null, null],
] as const) {
  test(`a valve that is ${state} is ${JSON.stringify({ on, action })}`, () => {
    const told = { action, ...(on === undefined ? {} : { on }) };
    assert.deepEqual(view(entity("valve", state)).state, told);
  });
}

for (const [command, call] of [
  [{ on: true }, ["valve.open_valve"]],
  [{ on: false }, ["valve.close_valve"]],
  [{ open: true }, ["valve.open_valve"]],
  [{ close: true }, ["valve.close_valve"]],
  [{ stop: true }, ["valve.stop_valve"]],
  [{ position: 30.4 }, ["valve.set_valve_position", { position: 30 }]],
] as const) {
  test(`the command ${JSON.stringify(command)} to a valve calls ${call[0]}`, () => {
    assert.deepEqual(calls(entity("valve", "open"), command), [call]);
  });
}

for (const [command, state, is] of [
  [{ on: true }, "opening", true],
  [{ on: true }, "closed", false],
  [{ on: false }, "closing", true],
  [{ on: false }, "open", false],
  [{ on: true, position: 10 }, "closing", true],
  [{ open: true }, "opening", true],
  [{ close: true }, "closed", true],
  [{ stop: true }, "opening", false],
  [{ position: 90 }, "opening", true],
  [{ position: 10 }, "opening", false],
] as const) {
  test(`${JSON.stringify(command)} is ${is ? "" : "not "}obeyed by a valve at 50 % that is ${state}`, () => {
    const at = (now: string) =>
      entity("valve", now, { current_position: 50, supported_features: 15 });
    assert.equal(isConfirmed(command, at("open"), at(state)), is);
  });
}
