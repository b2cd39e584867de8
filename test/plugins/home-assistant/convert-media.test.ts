import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const TEXT = { type: "text", readOnly: true } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const choice = (...values: string[]) => ({ type: "choice", values });
const PLAYBACK = choice("playing", "paused", "stopped");

/** A player without features. */
const SHOWN = {
  playback: { ...PLAYBACK, readOnly: true },
  volume: { ...PERCENT, readOnly: true },
  title: TEXT,
  artist: TEXT,
  duration: { type: "number", unit: "s", readOnly: true },
};

for (const [supported_features, more] of [
  [0, {}],
  [1, { playback: PLAYBACK }],
  [4_096, { playback: PLAYBACK }],
  [16_384, { playback: PLAYBACK }],
  [4, { volume: PERCENT }],
  [8, { muted: SWITCH }],
  [16, { skip: choice("previous") }],
  [32, { skip: choice("next") }],
  [48, { skip: choice("previous", "next") }],
  [128, {}],
  [256, {}],
  [384, { on: SWITCH }],
  [2_048, { source: choice("Radio", "TV") }],
] as const) {
  test(`a player with the features ${supported_features} also has ${JSON.stringify(Object.keys(more))}`, () => {
    const attributes = { supported_features, source_list: ["Radio", "TV"] };
    assert.deepEqual(capabilities("media_player", attributes), { ...SHOWN, ...more });
  });
}

for (const [state, on, playback] of [
  ["playing", true, "playing"],
  ["buffering", true, "playing"],
  ["paused", true, "paused"],
  ["idle", true, "stopped"],
  ["off", false, "stopped"],
  ["standby", false, "stopped"],
  ["unknown", null, null],
] as const) {
  test(`a player that is ${state} is ${JSON.stringify({ on, playback })}`, () => {
    const { state: shown } = view(entity("media_player", state, { supported_features: 384 }));
    assert.deepEqual([shown["on"], shown["playback"]], [on, playback]);
  });
}

test("a player shows what it plays and how loud", () => {
  const attributes = {
    ...{ supported_features: 2_056, source_list: ["Radio"], source: "Radio", volume_level: 0.355 },
    ...{ media_title: "A song", media_artist: "A singer", media_duration: 200 },
  };
  const state = { playback: "playing", volume: 35.5, source: "Radio" };
  const of = (more: object) =>
    view(entity("media_player", "playing", { ...attributes, ...more })).state;

  const song = { title: "A song", artist: "A singer", duration: 200 };
  assert.deepEqual(of({ is_volume_muted: true }), { ...state, ...song, muted: true });
  assert.deepEqual(of({ media_title: "" })["title"], null);
  assert.deepEqual(of({ media_artist: undefined })["artist"], null);
  assert.deepEqual(of({ media_duration: undefined })["duration"], null);
  assert.deepEqual(of({})["muted"], false);
});

for (const [command, call] of [
  [{ on: true }, ["turn_on"]],
  [{ on: false }, ["turn_off"]],
  [{ playback: "playing" }, ["media_play"]],
  [{ playback: "paused" }, ["media_pause"]],
  [{ playback: "stopped" }, ["media_stop"]],
  [{ skip: "previous" }, ["media_previous_track"]],
  [{ skip: "next" }, ["media_next_track"]],
  [{ volume: 20 }, ["volume_set", { volume_level: 0.2 }]],
  [{ muted: false }, ["volume_mute", { is_volume_muted: false }]],
  [{ source: "TV" }, ["select_source", { source: "TV" }]],
] as const) {
  test(`the command ${JSON.stringify(command)} calls media_player.${call[0]}`, () => {
    const [service, ...data] = call;
    assert.deepEqual(calls(entity("media_player", "on"), command), [
      [`media_player.${service}`, ...data],
    ]);
  });
}

test("a skipped track is confirmed at once, and other values by themselves", () => {
  const of = entity("media_player", "playing");

  assert.equal(isConfirmed({ skip: "next" }, of, of), true);
  assert.equal(isConfirmed({ playback: "paused" }, of, of), false);
});
