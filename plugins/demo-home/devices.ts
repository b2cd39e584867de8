import { type DeviceDescription, speedToPercent } from "@mantel/plugin-sdk";
import {
  action,
  choice,
  COLOR,
  COMMAND,
  PERCENT,
  reading,
  SWITCH,
  TARGET,
  TEXT,
  WHITE,
  BINARY_SENSOR,
} from "./capabilities.ts";
import { BEDROOM_SPEAKER, PLAYERS, SPEAKER, TRACKS } from "./players.ts";

const DIMMABLE = { on: SWITCH, brightness: PERCENT };
const CLIMATE = { temperature: reading("°C", 0.1), humidity: reading("%", 1) };
const METERED = { on: SWITCH, power: reading("W", 1) };

/** The number of speeds of the ceiling fan. */
export const FAN_SPEEDS = 6;

/** The device whose picture is drawn in `picture.ts`, beside the covers of tracks. */
export const CAMERA = "garden-camera";

const device = (model: string, description: DeviceDescription): DeviceDescription => ({
  ...description,
  info: { manufacturer: "Mantel", model, serial: description.nativeId, firmware: "1.0" },
});

interface Player extends Pick<DeviceDescription, "nativeId" | "name"> {
  readonly room: string;
  readonly playback: "playing" | "stopped";
  /** Percent. */
  readonly volume: number;
  /** Seconds of the first track. */
  readonly elapsed: number;
}

const player = ({ nativeId, name, room, ...state }: Player): DeviceDescription =>
  device("Speaker", {
    nativeId,
    kind: "media-player",
    name,
    room,
    image: true,
    capabilities: {
      playback: choice("playing", "paused", "stopped"),
      previous: COMMAND,
      next: COMMAND,
      volume: PERCENT,
      muted: SWITCH,
      title: TEXT,
      artist: TEXT,
      elapsed: { type: "number", min: 0, unit: "s", step: 5 },
      duration: reading("s", 1),
      groupName: TEXT,
      group: choice(...PLAYERS.keys()),
    },
    state: { muted: false, ...TRACKS[0], ...state, groupName: name, group: name },
  });

const LIVING_ROOM: readonly DeviceDescription[] = [
  device("White lamp", {
    nativeId: "sofa-lamp",
    kind: "light",
    name: "Sofa lamp",
    room: "Living room",
    capabilities: { ...DIMMABLE, colorTemperature: WHITE },
    state: { on: true, brightness: 62, colorTemperature: 2700 },
  }),
  device("Colour strip", {
    nativeId: "tv-backlight",
    kind: "light",
    name: "TV backlight",
    room: "Living room",
    capabilities: { ...DIMMABLE, color: COLOR, effect: choice("none", "candle", "sunset") },
    state: { on: true, brightness: 18, color: { hue: 268, saturation: 55 }, effect: "none" },
  }),
  device("White lamp", {
    nativeId: "living-ceiling",
    kind: "light",
    name: "Ceiling",
    room: "Living room",
    capabilities: { ...DIMMABLE, colorTemperature: WHITE },
    state: { on: false, brightness: 80, colorTemperature: 3000 },
  }),
  device("Roller blind", {
    nativeId: "blinds",
    kind: "cover",
    name: "Blinds",
    room: "Living room",
    capabilities: {
      position: PERCENT,
      action: action("opening", "closing", "stopped"),
      open: COMMAND,
      close: COMMAND,
      stop: COMMAND,
    },
    state: { position: 40, action: "stopped" },
  }),
  device("Climate sensor", {
    nativeId: "living-climate",
    kind: "sensor",
    name: "Living room climate",
    room: "Living room",
    capabilities: CLIMATE,
    state: { temperature: 21.4, humidity: 46 },
  }),
  player({
    nativeId: SPEAKER,
    name: "Speaker",
    room: "Living room",
    playback: "playing",
    volume: 35,
    elapsed: 82,
  }),
];

const KITCHEN: readonly DeviceDescription[] = [
  device("White lamp", {
    nativeId: "island",
    kind: "light",
    name: "Island",
    room: "Kitchen",
    capabilities: { ...DIMMABLE, colorTemperature: WHITE },
    state: { on: true, brightness: 85, colorTemperature: 3500 },
  }),
  device("Smart plug", {
    nativeId: "coffee",
    kind: "plug",
    name: "Coffee",
    room: "Kitchen",
    capabilities: METERED,
    state: { on: false, power: 0 },
  }),
  device("Smart plug", {
    nativeId: "dishwasher",
    kind: "plug",
    name: "Dishwasher",
    room: "Kitchen",
    capabilities: METERED,
    state: { on: true, power: 850 },
    extra: {
      capabilities: {
        remaining: { ...reading("min", 1), group: "main" },
        progress: { ...reading("%", 1), group: "main" },
      },
      state: { remaining: 24, progress: 73 },
    },
  }),
  device("Hood", {
    nativeId: "extractor",
    kind: "fan",
    name: "Extractor",
    room: "Kitchen",
    capabilities: { on: SWITCH, speed: PERCENT },
    state: { on: false, speed: 50 },
  }),
  device("Climate sensor", {
    nativeId: "kitchen-climate",
    kind: "sensor",
    name: "Kitchen climate",
    room: "Kitchen",
    capabilities: CLIMATE,
    state: { temperature: 22, humidity: 51 },
  }),
];

const UPSTAIRS: readonly DeviceDescription[] = [
  device("Radiator valve", {
    nativeId: "heating",
    kind: "thermostat",
    name: "Heating",
    room: "Upstairs",
    capabilities: {
      temperature: reading("°C", 0.1),
      targetTemperature: TARGET,
      mode: choice("heat", "auto", "off"),
      action: action("off", "idle", "heating"),
      battery: reading("%", 1),
    },
    state: {
      temperature: 19.2,
      targetTemperature: 20.5,
      mode: "heat",
      action: "heating",
      battery: 87,
    },
  }),
  device("White lamp", {
    nativeId: "bedside",
    kind: "light",
    name: "Bedside",
    room: "Upstairs",
    capabilities: { ...DIMMABLE, colorTemperature: WHITE },
    state: { on: false, brightness: 30, colorTemperature: 2200 },
  }),
  device("Sensor light", {
    nativeId: "hallway",
    kind: "light",
    name: "Hallway",
    room: "Upstairs",
    capabilities: DIMMABLE,
    state: { on: true, brightness: 70 },
    extra: {
      capabilities: { mode: { ...choice("auto", "manual"), group: "main" } },
      state: { mode: "auto" },
    },
  }),
  device("Motion sensor", {
    nativeId: "hallway-motion",
    kind: "binary-sensor",
    name: "Hallway motion",
    room: "Upstairs",
    capabilities: { motion: BINARY_SENSOR, battery: reading("%", 1) },
    state: { motion: true, battery: 64 },
  }),
  device("Climate sensor", {
    nativeId: "upstairs-climate",
    kind: "sensor",
    name: "Upstairs climate",
    room: "Upstairs",
    capabilities: CLIMATE,
    state: { temperature: 19.2, humidity: 49 },
  }),
];

const ELSEWHERE: readonly DeviceDescription[] = [
  device("Door lock", {
    nativeId: "front-door",
    kind: "lock",
    name: "Front door",
    room: "Hallway",
    capabilities: { locked: SWITCH, battery: reading("%", 1) },
    state: { locked: true, battery: 78 },
  }),
  device("Energy meter", {
    nativeId: "energy",
    kind: "sensor",
    name: "Energy",
    room: "Hallway",
    capabilities: { power: reading("W", 10), energy: reading("kWh", 0.01) },
    state: { power: 1200, energy: 4812.37 },
  }),
  device("Contact sensor", {
    nativeId: "bath-window",
    kind: "binary-sensor",
    name: "Bath window",
    room: "Bath",
    capabilities: { contact: BINARY_SENSOR, battery: reading("%", 1) },
    state: { contact: false, battery: 91 },
  }),
  device("Climate sensor", {
    nativeId: "bath-climate",
    kind: "sensor",
    name: "Bath climate",
    room: "Bath",
    capabilities: CLIMATE,
    state: { temperature: 20.1, humidity: 63 },
  }),
  device("Weather station", {
    nativeId: "garden-weather",
    kind: "sensor",
    name: "Garden weather",
    room: "Garden",
    capabilities: { ...CLIMATE, pressure: reading("hPa", 1), illuminance: reading("lx", 10) },
    state: { temperature: 7, humidity: 84, pressure: 1009, illuminance: 120 },
  }),
  device("Outdoor relay", {
    nativeId: "terrace",
    kind: "switch",
    name: "Terrace lights",
    room: "Garden",
    capabilities: { on: SWITCH },
    state: { on: false },
  }),
];

/** Rooms that the shipped layout does not show one by one. */
const MORE: readonly DeviceDescription[] = [
  device("Robot vacuum", {
    nativeId: "robot",
    kind: "vacuum",
    name: "Robot",
    room: "Hallway",
    capabilities: {
      action: action("cleaning", "docked", "idle", "paused", "returning", "error"),
      start: COMMAND,
      pause: COMMAND,
      stop: COMMAND,
      dock: COMMAND,
      locate: COMMAND,
      fanSpeed: choice("quiet", "normal", "strong"),
      battery: reading("%", 1),
    },
    state: { action: "docked", fanSpeed: "normal", battery: 96 },
  }),
  device("Alarm panel", {
    nativeId: "alarm",
    kind: "alarm",
    name: "Alarm",
    room: "Hallway",
    capabilities: {
      mode: choice("disarmed", "home", "away", "night"),
      status: action("disarmed", "arming", "armed", "pending", "triggered"),
      code: { type: "text" },
    },
    state: { mode: "disarmed", status: "disarmed" },
  }),
  device("Ceiling fan", {
    nativeId: "ceiling-fan",
    kind: "fan",
    name: "Ceiling fan",
    room: "Bedroom",
    capabilities: {
      on: SWITCH,
      speed: { ...PERCENT, step: 100 / FAN_SPEEDS },
      direction: choice("forward", "reverse"),
    },
    state: { on: true, speed: speedToPercent(2, FAN_SPEEDS), direction: "forward" },
    parts: [
      {
        id: "light",
        kind: "light",
        name: "Ceiling fan light",
        capabilities: { ...DIMMABLE, colorTemperature: WHITE },
        state: { on: false, brightness: 60, colorTemperature: 2700 },
      },
    ],
  }),
  device("Humidifier", {
    nativeId: "humidifier",
    kind: "humidifier",
    name: "Humidifier",
    room: "Bedroom",
    capabilities: {
      on: SWITCH,
      targetHumidity: { ...PERCENT, min: 30, max: 70, step: 5 },
      humidity: reading("%", 1),
      action: action("off", "idle", "humidifying"),
    },
    state: { on: true, targetHumidity: 45, humidity: 41, action: "humidifying" },
  }),
  player({
    nativeId: BEDROOM_SPEAKER,
    name: "Bedroom speaker",
    room: "Bedroom",
    playback: "stopped",
    volume: 20,
    elapsed: 0,
  }),
  device("Water valve", {
    nativeId: "water",
    kind: "valve",
    name: "Water",
    room: "Bath",
    capabilities: { on: SWITCH, flow: reading("m³/h", 0.01), water: reading("m³", 0.001) },
    state: { on: true, flow: 0, water: 318.402 },
  }),
];

const CAMERAS: readonly DeviceDescription[] = [
  device("Camera", {
    nativeId: CAMERA,
    kind: "camera",
    name: "Garden camera",
    room: "Garden",
    image: true,
    live: ["frames"],
    capabilities: {},
    state: {},
  }),
];

/** All devices of the demo home in their initial state. */
export const DEVICES: readonly DeviceDescription[] = [
  ...LIVING_ROOM,
  ...KITCHEN,
  ...UPSTAIRS,
  ...ELSEWHERE,
  ...MORE,
  ...CAMERAS,
];
