import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const ACTION = {
  type: "choice",
  values: ["opening", "closing", "stopped"],
  readOnly: true,
} as const;
const COMMAND = { type: "command" } as const;
const shown = { readOnly: true } as const;
const [OPEN, CLOSE, SET_POSITION, STOP, SET_TILT] = [1, 2, 4, 8, 128];

for (const [supported_features, position, more] of [
  [0, { ...PERCENT, ...shown }, {}],
  [SET_POSITION, PERCENT, {}],
  [OPEN, { ...PERCENT, ...shown }, { open: COMMAND }],
  [CLOSE, { ...PERCENT, ...shown }, { close: COMMAND }],
  [STOP, { ...PERCENT, ...shown }, { stop: COMMAND }],
  [OPEN | CLOSE | SET_POSITION | STOP, PERCENT, { open: COMMAND, close: COMMAND, stop: COMMAND }],
] as const) {
  test(`a cover with the features ${supported_features} takes commands as far as it has them`, () => {
    assert.deepEqual(capabilities("cover", { supported_features }), {
      position,
      action: ACTION,
      ...more,
    });
  });
}

for (const [feature, field, service] of [
  [16, "openTilt", "cover.open_cover_tilt"],
  [32, "closeTilt", "cover.close_cover_tilt"],
  [64, "stopTilt", "cover.stop_cover_tilt"],
] as const) {
  test(`a cover with the feature ${feature} has the extra ${field}, which the answer confirms`, () => {
    const of = entity("cover", "open", { supported_features: feature });

    assert.deepEqual(view(of).extra, {
      capabilities: { [field]: { ...COMMAND, group: "main" } },
      state: {},
    });
    assert.deepEqual(calls(of, { [field]: true }), [[service]]);
    assert.equal(isConfirmedByAnswer({ [field]: true }, of), true);
  });
}

test("slats can be set by their feature, and are shown if only their position is known", () => {
  const tilt = (attributes: Readonly<Record<string, unknown>>) =>
    capabilities("cover", attributes)["tilt"];

  assert.deepEqual(tilt({ supported_features: SET_TILT }), PERCENT);
  assert.deepEqual(tilt({ current_tilt_position: 30 }), { ...PERCENT, ...shown });
  assert.equal(tilt({}), undefined);
});

for (const [state, position, action] of [
  ["open", 100, "stopped"],
  ["closed", 0, "stopped"],
  ["opening", null, "opening"],
  ["closing", null, "closing"],
  ["unknown", null, null],
  ["unavailable", null, null],
] as const) {
  test(`a cover without a position that is ${state} is at ${position}, ${action}`, () => {
    assert.deepEqual(view(entity("cover", state)).state, { position, action });
  });
}

test("a cover that reports its position is there, whatever its state", () => {
  const of = entity("cover", "open", { current_position: 40, current_tilt_position: 10 });
  assert.deepEqual(view(of).state, { position: 40, action: "stopped", tilt: 10 });
});

test("each field of a command calls its service", () => {
  const of = entity("cover", "open");

  assert.deepEqual(calls(of, { open: true }), [["cover.open_cover"]]);
  assert.deepEqual(calls(of, { close: true }), [["cover.close_cover"]]);
  assert.deepEqual(calls(of, { stop: true, position: 30, tilt: 60 }), [
    ["cover.stop_cover"],
    ["cover.set_cover_position", { position: 30 }],
    ["cover.set_cover_tilt_position", { tilt_position: 60 }],
  ]);
});

for (const [command, state, is] of [
  ["open", "opening", true],
  ["open", "open", true],
  ["open", "closed", false],
  ["open", "closing", false],
  ["close", "closing", true],
  ["close", "closed", true],
  ["close", "open", false],
  ["stop", "open", true],
  ["stop", "opening", false],
  ["stop", "closing", false],
] as const) {
  test(`${command} is ${is ? "" : "not "}obeyed when a cover is ${state}`, () => {
    const before = entity("cover", command === "stop" ? "opening" : "unknown");
    assert.equal(
      isConfirmed({ [command]: true }, before, entity("cover", state), { isAnswered: false }),
      is,
    );
  });
}

for (const [command, position, now, state, is] of [
  ["open", 30, 30, "open", false],
  ["open", 30, 31, "open", true],
  ["open", 30, 29, "open", false],
  ["open", 30, 100, "open", true],
  ["close", 30, 30, "open", false],
  ["close", 30, 20, "open", true],
  ["close", 30, 40, "open", false],
  ["close", 30, 0, "closed", true],
] as const) {
  test(`${command} is ${is ? "" : "not "}obeyed by a cover at ${position} % that is at ${now} %, ${state}`, () => {
    const at = (current_position: number, word: string) =>
      entity("cover", word, { current_position, supported_features: 15 });
    assert.equal(isConfirmed({ [command]: true }, at(position, "open"), at(now, state)), is);
  });
}

for (const [command, of] of [
  ["open", entity("cover", "open", { current_position: 100, supported_features: 15 })],
  ["open", entity("cover", "open", { supported_features: 11 })],
  ["close", entity("cover", "closed", { current_position: 0, supported_features: 15 })],
  ["stop", entity("cover", "open", { current_position: 30, supported_features: 15 })],
] as const) {
  test(`${command} of a cover that is ${of.state} ${JSON.stringify(of.attributes)} is confirmed by the answer`, () => {
    assert.equal(isConfirmedByAnswer({ [command]: true }, of), true);
  });
}

test("a tilt is confirmed once the slats have come nearer", () => {
  const at = (current_tilt_position: number) =>
    entity("cover", "open", { current_tilt_position, supported_features: SET_TILT });

  assert.equal(isConfirmed({ tilt: 60 }, at(10), at(10)), false);
  assert.equal(isConfirmed({ tilt: 60 }, at(10), at(5)), false);
  assert.equal(isConfirmed({ tilt: 60 }, at(10), at(57)), true);
});

for (const [from, to, state, is] of [
  [40, 90, "opening", true],
  [40, 90, "closing", false],
  [40, 10, "closing", true],
  [40, 10, "opening", false],
  [40, 90, "open", true],
  [40, 10, "open", false],
] as const) {
  test(`a cover on its way from ${from} to ${to} has ${is ? "" : "not "}begun when it is ${state}`, () => {
    const at = (current_position: number, now: string) =>
      entity("cover", now, { current_position, supported_features: SET_POSITION });

    assert.equal(isConfirmed({ position: to }, at(from, "open"), at(from + 1, state)), is);
  });
}

test("a cover that tells no position has obeyed only when it has arrived", () => {
  const unknown = entity("cover", "unknown");

  assert.equal(isConfirmed({ position: 100 }, unknown, entity("cover", "opening")), false);
  assert.equal(isConfirmed({ position: 100 }, unknown, entity("cover", "open")), true);
});

test("a cover that arrived just before a command is on its way from there", () => {
  const at = (current_position: number, state: string) =>
    entity("cover", state, { current_position, supported_features: SET_POSITION });

  assert.equal(isConfirmed({ position: 50 }, at(100, "closing"), at(0, "opening")), true);
  assert.equal(isConfirmed({ position: 50 }, at(100, "closing"), at(0, "closed")), false);
  assert.equal(isConfirmed({ position: 50 }, at(40, "opening"), at(80, "opening")), false);
});
