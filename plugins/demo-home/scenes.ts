import type { SceneDescription } from "@mantel/plugin-sdk";

const OFF = { on: false };

/** The scenes of the demo home. Their targets are commands by native id. */
export const SCENES: readonly SceneDescription[] = [
  {
    nativeId: "morning",
    name: "Morning",
    icon: "mdi:weather-sunset-up",
    targets: {
      blinds: { position: 100 },
      island: { on: true, brightness: 85, colorTemperature: 4500 },
      coffee: { on: true },
      heating: { targetTemperature: 21 },
    },
  },
  {
    nativeId: "dinner",
    name: "Dinner",
    icon: "mdi:silverware-fork-knife",
    targets: {
      "sofa-lamp": { on: true, brightness: 40, colorTemperature: 2400 },
      "living-ceiling": OFF,
      island: { on: true, brightness: 60, colorTemperature: 2700 },
      extractor: OFF,
    },
  },
  {
    nativeId: "movie",
    name: "Movie",
    icon: "mdi:movie-open",
    targets: {
      "sofa-lamp": { on: true, brightness: 12, colorTemperature: 2200 },
      "tv-backlight": { on: true, brightness: 18, color: { hue: 268, saturation: 55 } },
      "living-ceiling": OFF,
      blinds: { position: 0 },
      speaker: { playback: "paused" },
    },
  },
  {
    nativeId: "away",
    name: "Away",
    icon: "mdi:exit-run",
    targets: {
      "sofa-lamp": OFF,
      "tv-backlight": OFF,
      "living-ceiling": OFF,
      island: OFF,
      bedside: OFF,
      coffee: OFF,
      extractor: OFF,
      terrace: OFF,
      heating: { targetTemperature: 17 },
      speaker: { playback: "stopped" },
      "front-door": { locked: true },
    },
  },
  {
    nativeId: "good-night",
    name: "Good night",
    icon: "mdi:weather-night",
    targets: {
      "sofa-lamp": OFF,
      "tv-backlight": OFF,
      "living-ceiling": OFF,
      island: OFF,
      terrace: OFF,
      bedside: { on: true, brightness: 15 },
      blinds: { position: 0 },
      heating: { targetTemperature: 17.5 },
      "front-door": { locked: true },
    },
  },
];
