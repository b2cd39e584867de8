import type { Capability, Device, DeviceCommand, DeviceKind, DeviceState } from "../device.ts";
import type { I18n } from "../i18n.ts";
import { oklchHue } from "./oklch.ts";
import { shownReading } from "./reading.ts";

/** The appearance of a device's tile, and its actions. Texts are in the home's language. */
export interface Look {
  /** A CSS hue: degrees, or a theme variable. */
  readonly hue: string;
  readonly on: boolean;
  readonly value: string;
  readonly unit?: string;
  /** The level that dragging changes. `percent` is its current value, 0 to 100. */
  readonly level?: { readonly field: string; readonly percent: number };
  /** The progress of a running program, 0 to 100. */
  readonly progress?: number;
  readonly tap?: DeviceCommand;
  /** The question at the first tap, in English, for actions that need a second tap, such as unlocking. */
  readonly ask?: string;
}

const theme = (name: string): string => `var(--mantel-hue-${name})`;
/** Below this saturation in percent, a colour lamp counts as white. */
const LEAST_SATURATION = 15;
const UNKNOWN = "–";
const HUES: Partial<Record<DeviceKind, string>> = {
  light: "light",
  group: "light",
  fan: "cool",
  thermostat: "heat",
  "media-player": "media",
};

/** The look of a device. Pending values replace confirmed ones, so a command is visible immediately. */
export function lookOf(device: Device, speech: I18n): Look {
  const state: DeviceState = { ...device.state, ...device.pending };
  switch (device.kind) {
    case "cover":
      return coverLook(state, speech);
    case "lock":
      return lockLook(state, speech);
    case "sensor":
      return sensorLook(device, state, speech);
    case "binary-sensor":
      return binaryLook(state, speech);
    default:
      return switchLook(device, state, speech);
  }
}

function switchLook(device: Device, state: DeviceState, speech: I18n): Look {
  const on = state.on === true;
  const hue = hueOf(device, state);
  const tap = device.capabilities.on ? { tap: { on: !on } } : {};
  if (on) return { hue, on, ...tap, ...running(device, state, speech) };
  return {
    hue,
    on,
    value: state.on === false ? speech.t("Off") : wordOf(state.mode, speech),
    ...tap,
    ...levelIn(device, state, 0),
  };
}

/** The value shown for a device that is on. */
function running(
  device: Device,
  state: DeviceState,
  { t, fmt }: I18n,
): Pick<Look, "value"> & Partial<Look> {
  const { remaining, progress, mode } = state;
  if (typeof remaining === "number" && remaining > 0) {
    const shown = { hue: theme("info"), value: fmt.number(Math.ceil(remaining)), unit: "min" };
    return typeof progress === "number" ? { ...shown, progress } : shown;
  }
  if (mode === "auto") return { value: t("Auto") };
  const { level } = levelIn(device, state);
  return level
    ? { value: fmt.number(Math.round(level.percent)), unit: "%", level }
    : { value: t("On") };
}

/** The device's brightness or speed, if it has one. `shown` overrides the current state. */
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
  return theme(HUES[kind] ?? "info");
}

function coverLook({ position }: DeviceState, { t, fmt }: I18n): Look {
  const hue = theme("cool");
  if (typeof position !== "number") return { hue, on: false, value: UNKNOWN };
  return {
    hue,
    on: position > 0,
    level: { field: "position", percent: position },
    tap: { position: position > 0 ? 0 : 100 },
    ...(position > 0 && position < 100
      ? { value: fmt.number(Math.round(position)), unit: "%" }
      : { value: position === 0 ? t("Closed") : t("Open") }),
  };
}

function lockLook({ locked }: DeviceState, { t }: I18n): Look {
  if (locked === true) {
    return {
      hue: theme("ok"),
      on: true,
      value: t("Locked"),
      tap: { locked: false },
      ask: "Unlock?",
    };
  }
  const value = locked === false ? t("Unlocked") : UNKNOWN;
  return { hue: theme("warn"), on: locked === false, value, tap: { locked: true } };
}

function binaryLook(state: DeviceState, { t }: I18n): Look {
  const hue = theme("warn");
  if (typeof state.contact === "boolean") {
    return { hue, on: !state.contact, value: state.contact ? t("Closed") : t("Open") };
  }
  const [, value] = Object.entries(state).find(([, each]) => typeof each === "boolean") ?? [];
  if (value === undefined) return { hue, on: false, value: UNKNOWN };
  const on = value === true;
  return { hue: theme("info"), on, value: on ? t("Detected") : t("Clear") };
}

/** The look of a sensor, which shows its first measured value. */
function sensorLook({ capabilities }: Device, state: DeviceState, speech: I18n): Look {
  const look = { hue: theme("info"), on: false };
  for (const [name, capability] of Object.entries(capabilities)) {
    const value = state[name];
    if (typeof value === "number" && capability.type === "number" && name !== "battery") {
      return { ...look, ...shownReading(value, capability, speech) };
    }
  }
  return { ...look, value: UNKNOWN };
}

function wordOf(value: unknown, { t }: I18n): string {
  return typeof value === "string" && value !== ""
    ? t(value.charAt(0).toUpperCase() + value.slice(1))
    : UNKNOWN;
}
