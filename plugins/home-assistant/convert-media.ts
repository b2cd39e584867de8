import type { DeviceCommand } from "@mantel/plugin-sdk";
import {
  choicesBy,
  choicesIn,
  hasFeature,
  mapped,
  numberIn,
  rounded,
  textIn,
  when,
} from "./attributes.ts";
import {
  type Call,
  callsFor,
  choice,
  commands,
  type Domain,
  extras,
  isKnown,
  PERCENT,
  PERCENT_READ,
  SWITCH,
  TEXT,
} from "./domain.ts";
import type { Entity } from "./entities.ts";
import { canGroup, type PlayerGroups } from "./player-groups.ts";

const FEATURE = {
  pause: 1,
  seek: 2,
  volume: 4,
  mute: 8,
  previous: 16,
  next: 32,
  turnOn: 128,
  turnOff: 256,
  source: 2_048,
  stop: 4_096,
  play: 16_384,
  shuffle: 32_768,
  soundMode: 65_536,
  repeat: 262_144,
} as const;

const POSITION = { type: "number", min: 0, unit: "s" } as const;
const SECONDS = { type: "number", min: 0, unit: "s", readOnly: true } as const;
const PLAYBACK = { playing: "media_play", paused: "media_pause", stopped: "media_stop" } as const;

/** `media_player` */
export const mediaPlayer: Domain = {
  describe(entity, _unit, groups) {
    const { attributes } = entity;
    const can = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const volume = numberIn(attributes, "volume_level");
    const takesPlayback = hasFeature(attributes, FEATURE.play | FEATURE.pause | FEATURE.stop);
    const group = groupOf(entity, groups);
    const soundModes = choicesBy(attributes, FEATURE.soundMode, "sound_mode_list");
    return {
      kind: "media-player",
      capabilities: {
        ...when(can("turnOn") && can("turnOff"), { on: SWITCH }),
        ...choice("playback", ["playing", "paused", "stopped"], !takesPlayback),
        ...commands({ next: can("next"), previous: can("previous") }),
        volume: can("volume") ? PERCENT : PERCENT_READ,
        ...when(can("mute"), { muted: SWITCH }),
        ...choice("source", choicesBy(attributes, FEATURE.source, "source_list")),
        ...when(can("shuffle"), { shuffle: SWITCH }),
        ...choice("repeat", can("repeat") ? ["off", "one", "all"] : []),
        title: TEXT,
        artist: TEXT,
        album: TEXT,
        elapsed: can("seek") ? POSITION : SECONDS,
        duration: SECONDS,
        ...when(group !== undefined, { groupName: TEXT }),
        ...choice("group", group?.names ?? []),
      },
      image: takesPlayback,
      ...when(soundModes.length > 0, { extra: extras(choice("soundMode", soundModes)) }),
      state: {
        on: isKnown(entity) ? isOn(entity) : null,
        playback: isKnown(entity) ? playbackOf(entity) : null,
        volume: mapped(volume, (level) => rounded(level * 100, 1)),
        muted: attributes["is_volume_muted"] === true,
        source: textIn(attributes, "source"),
        shuffle: attributes["shuffle"] === true,
        repeat: textIn(attributes, "repeat"),
        title: textIn(attributes, "media_title") ?? null,
        artist: textIn(attributes, "media_artist") ?? null,
        album: textIn(attributes, "media_album_name") ?? null,
        elapsed: numberIn(attributes, "media_position") ?? null,
        duration: numberIn(attributes, "media_duration") ?? null,
        groupName: group?.own,
        group: group?.leader,
        soundMode: textIn(attributes, "sound_mode"),
      },
    };
  },

  calls: (command, entity, _unit, groups) => [
    // what it then plays is that of the group
    ...groupCalls(command["group"], entity, groups),
    ...callsFor(command, {
      on: (on) => call(on === true ? "turn_on" : "turn_off"),
      playback: (playback) => call(PLAYBACK[playback as keyof typeof PLAYBACK]),
      next: () => call("media_next_track"),
      previous: () => call("media_previous_track"),
      volume: (volume) => call("volume_set", { volume_level: Number(volume) / 100 }),
      elapsed: (elapsed) => call("media_seek", { seek_position: elapsed }),
      muted: (muted) => call("volume_mute", { is_volume_muted: muted }),
      source: (source) => call("select_source", { source }),
      shuffle: (shuffle) => call("shuffle_set", { shuffle }),
      repeat: (repeat) => call("repeat_set", { repeat }),
      soundMode: (mode) => call("select_sound_mode", { sound_mode: mode }),
    }),
  ],
};

/** The names of the players that it can join, its own name, and that of the player whose music it plays. */
function groupOf(entity: Entity, groups: PlayerGroups) {
  const names = groups.get(entity.id);
  const own = names?.get(entity.id);
  if (!names || own === undefined || !canGroup(entity)) return undefined;
  return { names: [...names.values()], own, leader: names.get(leaderOf(entity)) ?? null };
}

/** Home Assistant lists the players of a group with the leader first. */
const leaderOf = ({ id, attributes }: Entity): string =>
  choicesIn(attributes, "group_members")[0] ?? id;

/** No call if it already plays the music of that player. */
function groupCalls(
  group: DeviceCommand[string] | undefined,
  entity: Entity,
  groups: PlayerGroups,
): Call[] {
  const names = [...(groups.get(entity.id) ?? [])];
  const [leader] = names.find(([, name]) => name === group) ?? [];
  if (leader === undefined || leader === leaderOf(entity)) return [];
  if (leader === entity.id) return [call("unjoin")];
  return [{ ...call("join", { group_members: [entity.id] }), entityId: leader }];
}

const call = (name: string, data?: Record<string, unknown>): Call => ({
  service: `media_player.${name}`,
  ...(data ? { data } : {}),
});

function isOn({ state }: Entity): boolean {
  return state !== "off" && state !== "standby";
}

function playbackOf({ state }: Entity): keyof typeof PLAYBACK {
  if (state === "playing" || state === "buffering") return "playing";
  return state === "paused" ? "paused" : "stopped";
}
