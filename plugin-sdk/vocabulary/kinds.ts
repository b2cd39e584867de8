import type { DeviceKind } from "../device.ts";
import {
  type CanonicalCapabilities,
  choice,
  command,
  level,
  ownChoice,
  percent,
  reading,
  required,
  status,
  text,
  toggle,
} from "./canonical.ts";

/** One kind of device: its meaning, and its capabilities besides the readings that every kind may have. */
export interface CanonicalKind {
  readonly meaning: string;
  /** The device type of the Matter Device Library Specification, if there is one. */
  readonly matter?: string;
  /** Kinds that such devices had before this kind existed. They keep their ids. */
  readonly formerly?: readonly DeviceKind[];
  readonly capabilities: CanonicalCapabilities;
}

const ON = toggle("true while it is on");
const BRIGHTNESS = percent("brightness; 0 turns off and keeps the level");
const POSITION = percent("0 is closed, 100 is open");
const MOVEMENT = status("movement", ["opening", "closing", "stopped"]);
const OPENS = {
  open: command("opens as far as it goes", { position: [100] }),
  close: command("closes", { position: [0] }),
  stop: command("stops the movement", { action: ["stopped"] }),
};
const LOCATE = command("makes itself noticed, for example by a sound");
/** A player may go back to the start of the track first. */
const OTHER_TRACK = { title: true, artist: true, elapsed: true } as const;
/** A code is part of one command, and never stored or reported. */
const CODE = {
  types: ["text"],
  access: "command",
  meaning: "the code that the other fields of the same command need",
} as const;

const LIGHT: CanonicalCapabilities = {
  on: required(ON),
  brightness: BRIGHTNESS,
  colorTemperature: level("colour temperature of white light", "K", [500, 20_000]),
  color: { types: ["color"], access: "setting", meaning: "colour" },
  effect: ownChoice("effect that changes the light over time"),
};

const SWITCH: CanonicalCapabilities = { on: required(ON) };

const TARGET = (meaning: string) => level(meaning, "°C", [-50, 150]);
const CLIMATE: CanonicalCapabilities = {
  on: ON,
  targetTemperature: TARGET("temperature to reach"),
  targetTemperatureLow: TARGET("heats below this temperature"),
  targetTemperatureHigh: TARGET("cools above this temperature"),
  mode: ownChoice("what the device may do", [
    "off",
    "heat",
    "cool",
    "heat-cool",
    "auto",
    "dry",
    "fan-only",
  ]),
  action: status("what the device does now", [
    "off",
    "idle",
    "heating",
    "cooling",
    "drying",
    "fan",
    "preheating",
    "defrosting",
  ]),
  targetHumidity: percent("humidity to reach"),
  fanMode: ownChoice("speed of the fan"),
  swing: ownChoice("movement of the air outlet"),
  preset: ownChoice("set of targets with a name", ["none", "eco", "away", "boost", "comfort"]),
  schedule: { types: ["text"], access: "setting", meaning: "targets over a week" },
};

const HUMIDITY_CONTROL: CanonicalCapabilities = {
  on: required(ON),
  targetHumidity: percent("humidity to reach"),
  mode: ownChoice("programme"),
  action: status("what the device does now", ["off", "idle", "humidifying", "drying"]),
};

const robot = (working: string): CanonicalCapabilities => ({
  action: status("what it does now", [working, "docked", "idle", "paused", "returning", "error"]),
  start: command("starts or continues the work", { action: [working] }),
  pause: command("stays where it is, and can continue", { action: ["paused"] }),
  stop: command("ends the work", { action: ["idle", "returning", "docked"] }),
  dock: command("drives to the dock", { action: ["returning", "docked"] }),
  locate: LOCATE,
});

/** The kinds of devices and their capabilities. A name means the same on every bridge. */
export const KINDS: Readonly<Record<DeviceKind, CanonicalKind>> = {
  light: {
    meaning: "a lamp",
    matter: "On/Off, Dimmable, Color Temperature and Extended Color Light",
    capabilities: LIGHT,
  },
  switch: {
    meaning: "something that is on or off",
    matter: "Mounted On/Off Control",
    formerly: ["sensor", "binary-sensor"],
    capabilities: SWITCH,
  },
  plug: {
    meaning: "a socket, often one that measures",
    matter: "On/Off Plug-in Unit",
    formerly: ["sensor", "alarm"],
    capabilities: SWITCH,
  },
  sensor: {
    meaning: "measures",
    matter: "the sensor device types",
    formerly: ["alarm"],
    capabilities: {
      value: {
        types: ["number", "text", "choice", "boolean"],
        access: "setting",
        meaning: "a value that no other name describes",
      },
    },
  },
  "binary-sensor": {
    meaning: "tells yes or no",
    matter: "Contact Sensor, Occupancy Sensor, Water Leak Detector, Smoke CO Alarm",
    formerly: ["alarm"],
    capabilities: {
      active: { types: ["boolean"], access: "reading", meaning: "yes, for an unnamed subject" },
    },
  },
  button: {
    meaning: "something to press, there or here",
    matter: "Generic Switch",
    capabilities: { press: command("presses the button") },
  },
  cover: {
    meaning: "a blind, shutter, curtain, awning or garage door",
    matter: "Window Covering",
    formerly: ["sensor"],
    capabilities: {
      position: POSITION,
      tilt: percent("angle of the slats; 100 is open"),
      action: MOVEMENT,
      ...OPENS,
    },
  },
  thermostat: {
    meaning: "keeps a temperature",
    matter: "Thermostat",
    capabilities: CLIMATE,
  },
  "air-conditioner": {
    meaning: "cools, heats, dries and moves air",
    matter: "Room Air Conditioner",
    formerly: ["thermostat", "switch"],
    capabilities: CLIMATE,
  },
  "water-heater": {
    meaning: "heats water",
    matter: "Water Heater",
    formerly: ["thermostat"],
    capabilities: {
      on: ON,
      targetTemperature: TARGET("temperature to reach"),
      mode: ownChoice("programme", ["off", "eco", "electric", "gas", "heat-pump", "performance"]),
      action: status("what the device does now", ["off", "idle", "heating"]),
      away: toggle("true while nobody needs hot water"),
    },
  },
  fan: {
    meaning: "moves air",
    matter: "Fan",
    capabilities: {
      on: required(ON),
      speed: percent("speed; `step` is 100 divided by the number of speeds"),
      preset: ownChoice("programme"),
      oscillating: toggle("true while it swings"),
      direction: choice("direction of the air", ["forward", "reverse"]),
    },
  },
  humidifier: {
    meaning: "moistens air",
    formerly: ["switch"],
    capabilities: HUMIDITY_CONTROL,
  },
  dehumidifier: {
    meaning: "dries air",
    formerly: ["switch"],
    capabilities: HUMIDITY_CONTROL,
  },
  lock: {
    meaning: "a door lock",
    matter: "Door Lock",
    capabilities: {
      locked: required(toggle("true while locked")),
      jammed: { types: ["boolean"], access: "reading", meaning: "true while the bolt is stuck" },
      unlatch: command("pulls the latch, so that the door opens", { locked: [false] }),
      code: CODE,
    },
  },
  "media-player": {
    meaning: "plays music or video",
    matter: "Basic Video Player, Speaker",
    capabilities: {
      on: ON,
      playback: choice("what it does", ["playing", "paused", "stopped"]),
      next: command("skips to the next track", OTHER_TRACK),
      previous: command("goes back to the previous track", OTHER_TRACK),
      volume: percent("volume"),
      muted: toggle("true while silent"),
      source: ownChoice("input"),
      shuffle: toggle("true while tracks play in random order"),
      repeat: choice("repetition", ["off", "one", "all"]),
      title: text("title of the track"),
      artist: text("artist of the track"),
      album: text("album of the track"),
      elapsed: level("time since the start of the track; setting it seeks", "s", [0]),
      duration: reading("length of the track", "s", [0]),
      groupName: text("name under which other players join it, unique on the bridge"),
      group: ownChoice(
        "the player whose music it plays, by its `groupName`; its own while it plays alone or leads",
      ),
    },
  },
  vacuum: {
    meaning: "a robot that cleans floors",
    matter: "Robotic Vacuum Cleaner",
    capabilities: {
      ...robot("cleaning"),
      fanSpeed: ownChoice("suction"),
    },
  },
  "lawn-mower": {
    meaning: "a robot that mows",
    capabilities: robot("mowing"),
  },
  alarm: {
    meaning: "an alarm system",
    capabilities: {
      mode: choice("what it watches", ["disarmed", "home", "away", "night", "vacation", "custom"]),
      status: status("what it does now", ["disarmed", "arming", "armed", "pending", "triggered"]),
      code: CODE,
    },
  },
  siren: {
    meaning: "makes noise",
    formerly: ["alarm", "switch"],
    capabilities: {
      on: required(toggle("true while it sounds")),
      tone: ownChoice("sound"),
      volume: percent("volume"),
      duration: level("ends by itself after this time", "s", [0]),
    },
  },
  valve: {
    meaning: "lets water or gas through",
    matter: "Water Valve",
    formerly: ["switch", "sensor"],
    capabilities: {
      on: toggle("true while open"),
      position: POSITION,
      action: MOVEMENT,
      ...OPENS,
    },
  },
  camera: {
    meaning: "a camera",
    matter: "Camera",
    capabilities: {
      on: ON,
      streaming: { types: ["boolean"], access: "reading", meaning: "true while it sends video" },
      recording: { types: ["boolean"], access: "reading", meaning: "true while it records" },
      snapshot: text("address of the last picture"),
    },
  },
  doorbell: {
    meaning: "a bell at the door; rings are events",
    matter: "Doorbell",
    formerly: ["button", "binary-sensor"],
    capabilities: {
      ringing: { types: ["boolean"], access: "reading", meaning: "true while somebody rings" },
    },
  },
  tracker: {
    meaning: "tells where a person or thing is",
    capabilities: {
      home: { types: ["boolean"], access: "reading", meaning: "true while at home" },
      zone: text("name of the place; unknown at home and at places without a name"),
      latitude: reading("degrees north", "°", [-90, 90]),
      longitude: reading("degrees east", "°", [-180, 180]),
      accuracy: reading("radius of the place", "m", [0]),
    },
  },
  "weather-station": {
    meaning: "measures the weather",
    formerly: ["sensor"],
    capabilities: { condition: text("weather in one word") },
  },
  update: {
    meaning: "new software for something",
    formerly: ["binary-sensor", "sensor"],
    capabilities: {
      installedVersion: text("version that runs"),
      latestVersion: text("newest version"),
      install: command("installs the newest version", { progress: true, installedVersion: true }),
      progress: reading("progress of the installation", "%", [0, 100]),
    },
  },
  group: {
    meaning: "several devices that are commanded as one",
    capabilities: {
      ...LIGHT,
      on: ON,
      position: POSITION,
      tilt: percent("angle of slats"),
      ...OPENS,
    },
  },
};

/**
 * The kind of a device that keeps a temperature, by its modes in the words of the vocabulary. Air conditioners cool and
 * dry; a thermostat may cool or run a fan as well.
 */
export function climateKind(modes: readonly string[]): "thermostat" | "air-conditioner" {
  return modes.includes("cool") && modes.includes("dry") ? "air-conditioner" : "thermostat";
}
