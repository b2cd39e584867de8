import type { DeviceCommand } from "@mantel/plugin-sdk";
import { choicesBy, hasFeature, mapped, numberIn, rounded, textIn, when } from "./attributes.ts";
import { choice, type Domain, isKnown, PERCENT, PERCENT_READ, SWITCH, TEXT } from "./domain.ts";
import type { Entity } from "./entities.ts";

const FEATURE = {
  pause: 1,
  volume: 4,
  mute: 8,
  previous: 16,
  next: 32,
  turnOn: 128,
  turnOff: 256,
  source: 2_048,
  stop: 4_096,
  play: 16_384,
} as const;

const SECONDS = { type: "number", unit: "s", readOnly: true } as const;
const PLAYBACK = { playing: "media_play", paused: "media_pause", stopped: "media_stop" } as const;
const SKIPS = { previous: "media_previous_track", next: "media_next_track" } as const;

/** `media_player` */
export const mediaPlayer: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const can = (name: keyof typeof FEATURE): boolean => hasFeature(attributes, FEATURE[name]);
    const volume = numberIn(attributes, "volume_level");
    const takesPlayback = hasFeature(attributes, FEATURE.play | FEATURE.pause | FEATURE.stop);
    return {
      kind: "media-player",
      capabilities: {
        ...when(can("turnOn") && can("turnOff"), { on: SWITCH }),
        ...choice("playback", ["playing", "paused", "stopped"], !takesPlayback),
        ...choice("skip", (["previous", "next"] as const).filter(can)),
        volume: can("volume") ? PERCENT : PERCENT_READ,
        ...when(can("mute"), { muted: SWITCH }),
        ...choice("source", choicesBy(attributes, FEATURE.source, "source_list")),
        title: TEXT,
        artist: TEXT,
        duration: SECONDS,
      },
      state: {
        on: isKnown(entity) ? isOn(entity) : null,
        playback: isKnown(entity) ? playbackOf(entity) : null,
        volume: mapped(volume, (level) => rounded(level * 100, 1)),
        muted: attributes["is_volume_muted"] === true,
        source: textIn(attributes, "source"),
        title: textIn(attributes, "media_title") ?? null,
        artist: textIn(attributes, "media_artist") ?? null,
        duration: numberIn(attributes, "media_duration") ?? null,
      },
    };
  },

  calls({ on, playback, skip, ...rest }) {
    const fixed = [
      ...(on === undefined ? [] : [on ? "turn_on" : "turn_off"]),
      ...(playback === undefined ? [] : [PLAYBACK[playback as keyof typeof PLAYBACK]]),
      ...(skip === undefined ? [] : [SKIPS[skip as keyof typeof SKIPS]]),
    ];
    return [...fixed.map((name) => ({ service: `media_player.${name}` })), ...settings(rest)];
  },

  /** Another track need not look like another: the next one may bear the same title. */
  confirms: ({ field }) => (field === "skip" ? true : undefined),
};

function settings({ volume, muted, source }: DeviceCommand) {
  const setting = (name: string, data: Record<string, unknown>) => ({
    service: `media_player.${name}`,
    data,
  });
  return [
    ...(volume === undefined
      ? []
      : [setting("volume_set", { volume_level: Number(volume) / 100 })]),
    ...(muted === undefined ? [] : [setting("volume_mute", { is_volume_muted: muted })]),
    ...(source === undefined ? [] : [setting("select_source", { source })]),
  ];
}

function isOn({ state }: Entity): boolean {
  return state !== "off" && state !== "standby";
}

function playbackOf({ state }: Entity): keyof typeof PLAYBACK {
  if (state === "playing" || state === "buffering") return "playing";
  return state === "paused" ? "paused" : "stopped";
}
