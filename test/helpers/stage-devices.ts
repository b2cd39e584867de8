import type { DeviceDescription } from "@mantel/plugin-sdk";

const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const SWITCH = { type: "boolean" } as const;
const choice = (...values: string[]) => ({ type: "choice" as const, values });
const reading = (unit: "°C" | "%" | "W" | "kWh", step: number) =>
  ({ type: "number", unit, step, readOnly: true }) as const;

/** A lamp with a level; `more` changes or adds to it. */
export function lamp(
  nativeId: string,
  name: string,
  more: Partial<DeviceDescription> = {},
): DeviceDescription {
  return {
    nativeId,
    kind: "light",
    name,
    capabilities: { on: SWITCH, brightness: PERCENT },
    state: { on: true, brightness: 60 },
    ...more,
  };
}

/** A lamp that shines in any white and any colour. */
export const COLOUR_LAMP = lamp("colour", "Shelf", {
  capabilities: {
    on: SWITCH,
    brightness: PERCENT,
    colorTemperature: { type: "number", min: 2200, max: 6500, step: 50, unit: "K" },
    color: { type: "color" },
    effect: choice("none", "candle"),
  },
  state: {
    on: true,
    brightness: 60,
    colorTemperature: 2700,
    effect: "none",
    color: { hue: 268, saturation: 55 },
  },
});

export const BLINDS: DeviceDescription = {
  nativeId: "blinds",
  kind: "cover",
  name: "Blinds",
  capabilities: { position: PERCENT },
  state: { position: 40 },
};

export const DOOR: DeviceDescription = {
  nativeId: "door",
  kind: "lock",
  name: "Front door",
  capabilities: { locked: SWITCH, battery: reading("%", 1) },
  state: { locked: true, battery: 8 },
};

export const HEATING: DeviceDescription = {
  nativeId: "heating",
  kind: "thermostat",
  name: "Heating",
  capabilities: {
    temperature: reading("°C", 0.1),
    targetTemperature: { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" },
    mode: choice("heat", "off"),
  },
  state: { temperature: 19.2, targetTemperature: 20.5, mode: "heat" },
};

export const FAN: DeviceDescription = {
  nativeId: "fan",
  kind: "fan",
  name: "Extractor",
  capabilities: { on: SWITCH, speed: PERCENT },
  state: { on: false, speed: 40 },
};

export const SPEAKER: DeviceDescription = {
  nativeId: "speaker",
  kind: "media-player",
  name: "Speaker",
  capabilities: {
    playback: choice("playing", "paused"),
    previous: { type: "command" },
    next: { type: "command" },
    volume: PERCENT,
    muted: SWITCH,
    title: { type: "text", readOnly: true },
  },
  state: { playback: "playing", volume: 35, muted: false, title: "Slow Light" },
};

export const CLIMATE: DeviceDescription = {
  nativeId: "climate",
  kind: "sensor",
  name: "Bath climate",
  capabilities: { temperature: reading("°C", 0.1), humidity: reading("%", 1) },
  state: { temperature: 21.4, humidity: 46 },
};

export const METER: DeviceDescription = {
  nativeId: "meter",
  kind: "sensor",
  name: "Meter",
  capabilities: { power: reading("W", 10), energy: reading("kWh", 0.01) },
  state: { power: 1200, energy: 4812 },
};

export const WINDOW: DeviceDescription = {
  nativeId: "window",
  kind: "binary-sensor",
  name: "Bath window",
  capabilities: { contact: { type: "boolean", readOnly: true } },
  state: { contact: false },
};

export const DISHWASHER: DeviceDescription = {
  nativeId: "dishwasher",
  kind: "plug",
  name: "Dishwasher",
  capabilities: { on: SWITCH },
  state: { on: true },
  extra: {
    capabilities: {
      remaining: { type: "number", unit: "min", step: 1, readOnly: true, group: "main" },
      progress: { ...reading("%", 1), group: "main" },
    },
    state: { remaining: 24, progress: 73 },
  },
};

/** `readings.json`, in which a field has gone through `values`, one every five minutes until now. */
export function readingsFile(fields: Readonly<Record<string, readonly number[]>>): string {
  const now = Math.floor(Date.now() / 1000);
  const texts = Object.entries(fields).map(([key, values]) => [
    key,
    values.map((value, index) => `${now - (values.length - 1 - index) * 300}=${value}`).join(" "),
  ]);
  return JSON.stringify({ version: 1, fields: Object.fromEntries(texts) });
}
