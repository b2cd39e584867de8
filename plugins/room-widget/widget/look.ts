import type { Capability, Device, DeviceCommand, DeviceState } from "@mantel/plugin-sdk/device";
import { oklchHue } from "./oklch.ts";

/** How a device is drawn and what touching its tile does. */
export interface Look {
  /** CSS for a hue: a number of degrees or one of the theme's. */
  readonly hue: string;
  readonly on: boolean;
  readonly value: string;
  readonly unit?: string;
  /** A level that dragging changes. `percent` is what it shows now, 0 to 100. */
  readonly level?: { readonly field: string; readonly percent: number };
  /** Progress of something that ends by itself, 0 to 100. */
  readonly progress?: number;
  readonly tap?: DeviceCommand;
  /** What must be tapped twice, such as unlocking, with the question the first tap asks. */
  readonly ask?: string;
}

const theme = (name: string): string => `var(--mantel-hue-${name})`;
/** Below this a colour lamp shines white. */
const LEAST_SATURATION = 15;

/** Shows what was asked for at once: fields that are pending stand in for those confirmed. */
export function lookOf(device: Device): Look {
  const state: DeviceState = { ...device.state, ...device.pending };
  switch (device.kind) {
    case "cover":
      return coverLook(state);
    case "lock":
      return lockLook(state);
    case "sensor":
      return sensorLook(device, state);
    case "binary-sensor":
      return binaryLook(state);
    default:
      return switchLook(device, state);
  }
}

function switchLook(device: Device, state: DeviceState): Look {
  const on = state.on === true;
  const hue = hueOf(device, state);
  const tap = device.capabilities.on ? { tap: { on: !on } } : {};
  if (on) return { hue, on, ...tap, ...running(device, state) };
  return {
    hue,
    on,
    value: state.on === false ? "Off" : wordOf(state.mode),
    ...tap,
    ...levelIn(device, state, 0),
  };
}

/** What a device that is on says of itself. */
function running(device: Device, state: DeviceState): Pick<Look, "value"> & Partial<Look> {
  const { remaining, progress, mode } = state;
  if (typeof remaining === "number" && remaining > 0) {
    const shown = { hue: theme("info"), value: `${Math.ceil(remaining)}`, unit: "min" };
    return typeof progress === "number" ? { ...shown, progress } : shown;
  }
  if (mode === "auto") return { value: "Auto" };
  const { level } = levelIn(device, state);
  return level ? { value: `${Math.round(level.percent)}`, unit: "%", level } : { value: "On" };
}

/** Brightness or speed, when the device has it; `shown` overrides what it is now. */
function levelIn(
  { capabilities }: Device,
  state: DeviceState,
  shown?: number,
): Pick<Look, "level"> {
  const field = ["brightness", "speed"].find((name) => isDial(capabilities[name]));
  const value = field === undefined ? undefined : state[field];
  if (field === undefined || typeof value !== "number") return {};
  return { level: { field, percent: shown ?? value } };
}

function isDial(capability: Capability | undefined): boolean {
  return capability?.type === "number" && capability.unit === "%" && capability.readOnly !== true;
}

function hueOf({ kind }: Device, state: DeviceState): string {
  const { color } = state;
  if (typeof color === "object" && color !== null && color.saturation >= LEAST_SATURATION) {
    return `${oklchHue(color.hue)}`;
  }
  return theme(kind === "light" || kind === "group" ? "light" : kind === "fan" ? "cool" : "info");
}

function coverLook({ position }: DeviceState): Look {
  const percent = typeof position === "number" ? position : 0;
  return {
    hue: theme("cool"),
    on: percent > 0,
    level: { field: "position", percent },
    tap: { position: percent > 0 ? 0 : 100 },
    ...(percent > 0 && percent < 100
      ? { value: `${Math.round(percent)}`, unit: "%" }
      : { value: percent === 0 ? "Closed" : "Open" }),
  };
}

function lockLook({ locked }: DeviceState): Look {
  return locked === true
    ? { hue: theme("ok"), on: true, value: "Locked", tap: { locked: false }, ask: "Unlock?" }
    : { hue: theme("warn"), on: true, value: "Unlocked", tap: { locked: true } };
}

function binaryLook(state: DeviceState): Look {
  if (typeof state.contact === "boolean") {
    return { hue: theme("warn"), on: !state.contact, value: state.contact ? "Closed" : "Open" };
  }
  const [, value] = Object.entries(state).find(([, each]) => typeof each === "boolean") ?? [];
  return { hue: theme("info"), on: value === true, value: value === true ? "Detected" : "Clear" };
}

/** A sensor shows the first thing it measures. */
function sensorLook({ capabilities }: Device, state: DeviceState): Look {
  const look = { hue: theme("info"), on: false };
  for (const [name, capability] of Object.entries(capabilities)) {
    const value = state[name];
    if (typeof value === "number" && capability.type === "number" && name !== "battery") {
      return { ...look, ...reading(value, capability) };
    }
  }
  return { ...look, value: "–" };
}

function reading(
  value: number,
  { unit = "", step = 1 }: { unit?: string; step?: number },
): Pick<Look, "value" | "unit"> {
  if (unit === "W" && value >= 1000) return { value: (value / 1000).toFixed(1), unit: "kW" };
  return { value: value.toFixed(step < 1 ? 1 : 0), unit: unit === "°C" ? "°" : unit };
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value.charAt(0).toUpperCase() + value.slice(1) : "–";
}
