import type { Device, DevicePart, DeviceState } from "../device.ts";
import type { I18n } from "../i18n.ts";
import { bothWays, canSet, type Look, type LookOf, theme, wordOf } from "./appearance.ts";
import { coverLook } from "./look-opening.ts";
import { oklchHue } from "./oklch.ts";

/** Below this saturation in percent, a colour lamp counts as white. */
const LEAST_SATURATION = 15;
/** More gangs of a switch than this have no room for a button each. */
const MOST_GANGS = 4;
const HUES: Readonly<Record<string, string>> = {
  light: "light",
  group: "light",
  fan: "cool",
  "media-player": "media",
};

/** Whatever is on or off, with a level if it has one. */
export const switchLook: LookOf = (device, state, i18n) => {
  const gangs = device.capabilities.on ? [] : gangsOf(device);
  if (gangs.length > 0) return gangsLook(gangs, i18n);
  const on = state.on === true;
  const hue = hueOf(device, state);
  const shown = on
    ? { hue, on, ...running(device, state, i18n) }
    : {
        hue,
        on,
        value: state.on === false ? i18n.t("Off") : wordOf(state.mode, i18n),
        ...levelIn(device, state, 0),
      };
  if (!canSet(device, "on")) return shown;
  if (!device.assumed) return { ...shown, tap: { on: !on } };
  return { ...shown, buttons: onAndOff(i18n) };
};

const onAndOff = (i18n: I18n, ask?: string) =>
  bothWays("on", i18n, [false, "Off", "flash-off"], [true, "On", "flash", ask]);

/** The value shown for a device that is on. */
function running(
  device: Device,
  state: DeviceState,
  { t, fmt }: I18n,
): Pick<Look, "value"> & Partial<Look> {
  const { remaining, progress, mode } = { ...device.extra?.state, ...state };
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
function levelIn(device: Device, state: DeviceState, shown?: number): Pick<Look, "level"> {
  for (const field of ["brightness", "speed"]) {
    const capability = device.capabilities[field];
    const value = state[field];
    if (capability?.type !== "number" || capability.unit !== "%" || !canSet(device, field))
      continue;
    if (typeof value !== "number") return {};
    const { step = 1 } = capability;
    return { level: { field, percent: shown ?? value, ...(step > 1 ? { step } : {}) } };
  }
  return {};
}

function hueOf({ kind }: Device, { color }: DeviceState): string {
  if (typeof color === "object" && color !== null && color.saturation >= LEAST_SATURATION) {
    return `${oklchHue(color.hue)}`;
  }
  return theme(HUES[kind] ?? "info");
}

type Gang = DevicePart & { readonly pending: DeviceState };

/** The parts that can be switched: those of a switch with several gangs. */
function gangsOf({ parts = [] }: Device): readonly Gang[] {
  return parts.filter((part) => canSet(part, "on"));
}

/** A button for each gang. Those that are too many for that are switched together. */
function gangsLook(gangs: readonly Gang[], { t }: I18n): Look {
  const isOn = ({ state, pending }: Gang): boolean => (pending.on ?? state.on) === true;
  const lit = gangs.filter(isOn).length;
  const on = lit > 0;
  const look = { hue: theme(gangs.every(({ kind }) => kind === "light") ? "light" : "info"), on };
  if (gangs.length > MOST_GANGS) {
    return {
      ...look,
      value: t("{count} of {total}", { count: lit, total: gangs.length }),
      tap: { parts: Object.fromEntries(gangs.map(({ id }) => [id, { on: !on }])) },
    };
  }
  return {
    ...look,
    value: "",
    buttons: gangs.map((gang) => ({
      name: gang.name,
      tap: { parts: { [gang.id]: { on: !isOn(gang) } } },
      pressed: isOn(gang),
    })),
  };
}

/** A group of covers, or of lamps. */
export const groupLook: LookOf = (device, state, i18n) =>
  (canSet(device, "position") || canSet(device, "open") ? coverLook : switchLook)(
    device,
    state,
    i18n,
  );

/** A siren, which asks before it sounds. */
export const sirenLook: LookOf = (device, { on }, i18n) => {
  const look = {
    hue: theme("alert"),
    on: on === true,
    value: typeof on === "boolean" ? i18n.t(on ? "Sounds" : "Off") : wordOf(on, i18n),
  };
  if (!canSet(device, "on")) return look;
  if (device.assumed) return { ...look, buttons: onAndOff(i18n, ASK_SIREN) };
  return on === true
    ? { ...look, tap: { on: false } }
    : { ...look, tap: { on: true }, ask: ASK_SIREN };
};

const ASK_SIREN = "Sound it?";
