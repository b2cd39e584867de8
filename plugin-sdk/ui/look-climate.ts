import type { Device, DeviceState } from "../device.ts";
import type { I18n } from "../i18n.ts";
import { canSet, type Look, type LookOf, theme, type TileButton, wordOf } from "./appearance.ts";

/** The text of each action, with and without a target, and its hue. */
const ACTIONS: Readonly<Record<string, readonly [alone: string, to: string, hue: string]>> = {
  off: ["off", "off", "heat"],
  idle: ["holds", "holds {target}", "heat"],
  heating: ["heats", "heats to {target}", "heat"],
  preheating: ["preheats", "preheats to {target}", "heat"],
  cooling: ["cools", "cools to {target}", "cool"],
  drying: ["dries", "dries", "light"],
  fan: ["moves air", "moves air", "cool"],
  defrosting: ["defrosts", "defrosts", "cool"],
  humidifying: ["humidifies", "humidifies to {target}", "cool"],
};

interface Target {
  readonly values: readonly number[];
  readonly fields: readonly string[];
  readonly unit: "temperature" | "percent";
  readonly step: number;
  readonly bounds: readonly [number, number];
  readonly names: readonly [less: string, more: string];
}

const DEGREES = {
  unit: "temperature",
  step: 0.5,
  bounds: [5, 30],
  names: ["Cooler", "Warmer"],
} as const;
const HUMIDITY = {
  unit: "percent",
  step: 5,
  bounds: [0, 100],
  names: ["Drier", "Moister"],
} as const;

/** A thermostat, air conditioner or water heater: temperature, what it does, and its target. */
export const climateLook: LookOf = (device, state, i18n) => {
  const range = ["targetTemperatureLow", "targetTemperatureHigh"];
  const isRange = typeof state.targetTemperature !== "number";
  const target = targetOf(device, state, isRange ? range : ["targetTemperature"], DEGREES);
  const { temperature } = state;
  const value =
    typeof temperature === "number"
      ? i18n.fmt.unit(temperature, "temperature")
      : wordOf(state.mode, i18n);
  return { ...lookAt(device, state, target, i18n), value };
};

/** A humidifier or dehumidifier. */
export const humidityLook: LookOf = (device, state, i18n) => {
  const target = targetOf(device, state, ["targetHumidity"], HUMIDITY);
  const { humidity, on } = state;
  const word = typeof on === "boolean" ? i18n.t(on ? "On" : "Off") : wordOf(on, i18n);
  const value = typeof humidity === "number" ? i18n.fmt.unit(humidity, "percent") : word;
  const look = lookAt(device, state, target, i18n);
  return { ...look, value, hue: theme("cool") };
};

function lookAt(
  device: Device,
  state: DeviceState,
  target: Target | undefined,
  i18n: I18n,
): Omit<Look, "value"> {
  const isOff = state.mode === "off" || state.on === false;
  const action = typeof state.action === "string" ? state.action : isOff ? "off" : "";
  const acts = action !== "off" && action !== "idle";
  return {
    hue: theme(ACTIONS[action]?.[2] ?? (state.mode === "cool" ? "cool" : "heat")),
    on: acts && !isOff,
    buttons: target ? stepper(device, target, i18n) : [],
    note: state.windowOpen === true ? i18n.t("window open") : noteOf(action, target, i18n),
    ...(canSet(device, "on") ? { tap: { on: state.on !== true } } : {}),
  };
}

function targetOf(
  device: Device,
  state: DeviceState,
  fields: readonly string[],
  usual: typeof DEGREES | typeof HUMIDITY,
): Target | undefined {
  const values = fields.map((field) => state[field]).filter((value) => typeof value === "number");
  if (values.length < fields.length) return undefined;
  const capability = device.capabilities[fields[0] ?? ""];
  const [least, most] = usual.bounds;
  const {
    min = least,
    max = most,
    step = usual.step,
  } = capability?.type === "number" ? capability : {};
  // single percents take too many taps
  const each = usual.unit === "percent" ? Math.max(step, usual.step) : step;
  return { ...usual, values, fields, bounds: [min, max], step: each };
}

/** Less, the target and more. Both ends of a range move together. */
function stepper(device: Device, target: Target, i18n: I18n): readonly (TileButton | string)[] {
  const { fields, values, step, bounds, names } = target;
  if (!fields.every((field) => canSet(device, field))) return [textOf(target, i18n)];
  const [min, max] = bounds;
  const [low = min, high = low] = values;
  const by = (change: number) =>
    Object.fromEntries(
      fields.map((field, index) => {
        const next = Math.round(((values[index] ?? 0) + change) / step) * step;
        return [field, Math.max(min, Math.min(max, +next.toFixed(4)))];
      }),
    );
  const button = (icon: "minus" | "plus", name: string, change: number, disabled: boolean) =>
    ({ icon: `mdi:${icon}`, name: i18n.t(name), tap: by(change), disabled }) as const;
  return [
    button("minus", names[0], -step, low <= min),
    textOf(target, i18n),
    button("plus", names[1], step, high >= max),
  ];
}

function textOf({ values, unit }: Target, { fmt }: I18n): string {
  const texts = values.map((value) => fmt.unit(value, unit));
  // of a range, only the end has a unit
  return texts
    .map((text, index) => (index === 0 && texts[1] ? text.replace(/\D+$/, "") : text))
    .join("–");
}

function noteOf(action: string, target: Target | undefined, { t, fmt }: I18n): string {
  const [alone, to] = ACTIONS[action] ?? ["", "set to {target}"];
  if (!target) return t(alone);
  const [low = 0, high = low] = target.values;
  const end = action.endsWith("eating") ? low : action === "cooling" ? high : undefined;
  const goal = end === undefined ? textOf(target, { t, fmt }) : fmt.unit(end, target.unit);
  return t(target.unit === "percent" && action === "drying" ? "dries to {target}" : to, {
    target: goal,
  });
}
