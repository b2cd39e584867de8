import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

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
  album: TEXT,
  elapsed: { type: "number", min: 0, unit: "s", readOnly: true },
  duration: { type: "number", min: 0, unit: "s", readOnly: true },
};
const COMMAND = { type: "command" };

for (const [supported_features, more] of [
  [0, {}],
  [1, { playback: PLAYBACK }],
  [4_096, { playback: PLAYBACK }],
  [16_384, { playback: PLAYBACK }],
  [2, { elapsed: { type: "number", min: 0, unit: "s" } }],
  [4, { volume: PERCENT }],
  [8, { muted: SWITCH }],
  [16, { previous: COMMAND }],
  [32, { next: COMMAND }],
  [48, { previous: COMMAND, next: COMMAND }],
  [32_768, { shuffle: SWITCH }],
  [262_144, { repeat: choice("off", "one", "all") }],
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
    supported_features: 2_056,
    source_list: ["Radio"],
    source: "Radio",
    volume_level: 0.355,
    media_title: "A song",
    media_artist: "A singer",
    media_duration: 200,
    media_album_name: "An album",
    media_position: 20,
  };
  const state = { playback: "playing", volume: 35.5, source: "Radio" };
  const of = (more: object) =>
    view(entity("media_player", "playing", { ...attributes, ...more })).state;

  const song = { title: "A song", artist: "A singer", album: "An album" };
  assert.deepEqual(of({ is_volume_muted: true }), {
    ...state,
    ...song,
    elapsed: 20,
    duration: 200,
    muted: true,
  });
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
  [{ previous: true }, ["media_previous_track"]],
  [{ next: true }, ["media_next_track"]],
  [{ shuffle: true }, ["shuffle_set", { shuffle: true }]],
  [{ repeat: "one" }, ["repeat_set", { repeat: "one" }]],
  [{ soundMode: "Movie" }, ["select_sound_mode", { sound_mode: "Movie" }]],
  [{ volume: 20 }, ["volume_set", { volume_level: 0.2 }]],
  [{ muted: false }, ["volume_mute", { is_volume_muted: false }]],
  [{ elapsed: 90 }, ["media_seek", { seek_position: 90 }]],
  [{ source: "TV" }, ["select_source", { source: "TV" }]],
] as const) {
  test(`the command ${JSON.stringify(command)} calls media_player.${call[0]}`, () => {
    const [service, ...data] = call;
    assert.deepEqual(calls(entity("media_player", "on"), command), [
      [`media_player.${service}`, ...data],
    ]);
  });
}

test("a sound mode is an extra, if there are any", () => {
  const of = (more: object) =>
    view(entity("media_player", "on", { supported_features: 65_536, ...more })).extra;

  assert.deepEqual(of({ sound_mode_list: ["Movie", "Music"], sound_mode: "Movie" }), {
    capabilities: { soundMode: { ...choice("Movie", "Music"), group: "main" } },
    state: { soundMode: "Movie" },
  });
  assert.equal(of({}), undefined);
});

test("another track is confirmed by Home Assistant's answer, and other values by themselves", () => {
  const of = entity("media_player", "playing", { supported_features: 48 });

  assert.equal(isConfirmedByAnswer({ next: true }, of), true);
  assert.equal(isConfirmedByAnswer({ previous: true }, of), true);
  assert.equal(isConfirmed({ playback: "paused" }, of, of), false);
});

test("a player shows if it shuffles and repeats", () => {
  const of = (more: object) =>
    view(entity("media_player", "playing", { supported_features: 294_912, ...more })).state;

  const { shuffle, repeat } = of({ shuffle: true, repeat: "one" });
  assert.deepEqual([shuffle, repeat], [true, "one"]);
  assert.equal(of({})["shuffle"], false);
});
