import {
  type Capabilities,
  type Capability,
  type Chromaticity,
  type DeviceCommand,
  type DeviceState,
  distance,
  type Gamut,
  toChromaticity,
  toHueSaturation,
  toKelvin,
  toMired,
} from "@mantel/plugin-sdk";
import { at, numberAt, type Resource, textAt } from "./resources.ts";

/** Default range of colour temperature in mirek (a million divided by kelvin). */
const MIREK = { min: 153, max: 500 } as const;
const MOST_EFFECTS = 50;

/** The capabilities of a light, or of the lights of a group with joined ranges. */
export function lightCapabilities(lights: readonly Resource[]): Capabilities {
  const has = (field: string) => lights.filter((light) => typeof at(light, field) === "object");
  const whites = has("color_temperature").map(mirekRange);
  const effects = lights.length === 1 ? effectsOf(lights[0]) : [];
  return {
    ...given("on", has("on").length > 0 && { type: "boolean" }),
    ...given(
      "brightness",
      has("dimming").length > 0 && { type: "number", min: 0, max: 100, step: 1, unit: "%" },
    ),
    ...given(
      "colorTemperature",
      whites.length > 0 && {
        type: "number",
        min: toKelvin(Math.max(...whites.map(({ max }) => max))),
        max: toKelvin(Math.min(...whites.map(({ min }) => min))),
        step: 1,
        unit: "K",
      },
    ),
    ...given("color", has("color").length > 0 && { type: "color" }),
    ...given("effect", effects.length > 0 && { type: "choice", values: effects }),
  };
}

function given(name: string, capability: Capability | false): Capabilities {
  return capability ? { [name]: capability } : {};
}

/**
 * The state of a light, in the fields of `capabilities`. `null` for values that the light does not
 * report.
 */
export function lightState(light: Resource, capabilities: Capabilities): DeviceState {
  const on = at(light, "on", "on");
  const brightness = numberAt(light, "dimming", "brightness");
  const point = pointOf(light);
  const mirek = shownMirek(light);
  const effect = textAt(light, "effects", "status");
  const all: DeviceState = {
    on: typeof on === "boolean" ? on : null,
    brightness: brightness === undefined ? null : wholePercent(brightness),
    colorTemperature: mirek ? inRange(capabilities["colorTemperature"], toKelvin(mirek)) : null,
    color: point && !mirek ? toHueSaturation(point) : null,
    effect: effect && effectsOf(light).includes(effect) ? effect : null,
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name in capabilities));
}

/** The mirek of a light that shines white. Some lights say that a mirek of `null` is valid: they show a colour. */
function shownMirek(light: Resource): number | undefined {
  const isValid = at(light, "color_temperature", "mirek_valid") === true;
  return isValid ? numberAt(light, "color_temperature", "mirek") : undefined;
}

/** The request body for a command to a light or group. */
export function lightBody(light: Resource | undefined, command: DeviceCommand): LightBody {
  const { on, brightness, colorTemperature, color, effect } = command;
  return {
    ...(typeof on === "boolean" ? { on: { on } } : {}),
    // a light that is switched off and dimmed in one request may stay on
    ...(typeof brightness === "number" && on !== false ? { dimming: { brightness } } : {}),
    ...(typeof color === "object"
      ? { color: { xy: toChromaticity(color, gamutOf(light)) } }
      : typeof colorTemperature === "number"
        ? { color_temperature: { mirek: toMirek(light, colorTemperature) } }
        : {}),
    ...(typeof effect === "string" ? { effects: { effect } } : {}),
  };
}

export interface LightBody {
  readonly on?: { readonly on: boolean } | undefined;
  readonly dimming?: { readonly brightness: number };
  readonly color?: { readonly xy: Chromaticity };
  readonly color_temperature?: { readonly mirek: number };
  readonly effects?: { readonly effect: string };
}

/**
 * Tolerances, because devices have coarser steps: 254 of brightness, and the colours that their LEDs can mix. A value
 * that a light had before the request confirms it only within `same`: the light does not move for less.
 */
const NEAR = {
  dimming: { near: 1, same: 0.2 },
  color_temperature: { near: 2, same: 0 },
  color: { near: 0.02, same: 0.000_5 },
} as const;

/**
 * True if the state of a light matches the request. A group only reports whether one of its lights is on, and their
 * mean brightness.
 * @param before the light when the request was sent: that state confirms only what it already was
 */
export function follows(light: Resource | undefined, body: LightBody, before?: Resource): boolean {
  const asked: LightBody = light?.type === "grouped_light" ? { on: body.on } : body;
  const { on, dimming, color_temperature, color, effects } = asked;
  const moved = (field: keyof typeof NEAR, distanceOf: (light: Resource | undefined) => number) => {
    const now = distanceOf(light);
    const { near, same } = NEAR[field];
    return now <= same || (now <= near && now < distanceOf(before));
  };
  const checks = [
    () => !on || at(light, "on", "on") === on.on,
    () => !dimming || moved("dimming", (each) => fromDimmed(each, dimming.brightness)),
    () =>
      !color_temperature ||
      moved("color_temperature", (each) => fromWhite(each, color_temperature.mirek)),
    () => !color || moved("color", (each) => distance(pointOf(each) ?? FAR, color.xy)),
    () => !effects || at(light, "effects", "status") === effects.effect,
  ];
  return checks.every((check) => check());
}

const FAR: Chromaticity = { x: 9, y: 9 };

/** Below its minimum, a light uses its minimum brightness. */
function fromDimmed(light: Resource | undefined, asked: number): number {
  const least = numberAt(light, "dimming", "min_dim_level") ?? 0;
  return Math.abs((numberAt(light, "dimming", "brightness") ?? Infinity) - Math.max(asked, least));
}

function fromWhite(light: Resource | undefined, asked: number): number {
  const isValid = at(light, "color_temperature", "mirek_valid") !== false;
  const mirek = isValid ? numberAt(light, "color_temperature", "mirek") : undefined;
  return Math.abs((mirek ?? Infinity) - asked);
}

function pointOf(light: Resource | undefined): Chromaticity | undefined {
  return pointAt(at(light, "color", "xy"));
}

function pointAt(value: unknown): Chromaticity | undefined {
  const x = numberAt(value, "x");
  const y = numberAt(value, "y");
  if (x === undefined || y === undefined) return undefined;
  return { x: within(0, x, 1), y: within(0, y, 1) };
}

function gamutOf(light: Resource | undefined): Gamut | undefined {
  const [red, green, blue] = ["red", "green", "blue"].map((name) =>
    pointAt(at(light, "color", "gamut", name)),
  );
  return red && green && blue ? { red, green, blue } : undefined;
}

function mirekRange(light: Resource | undefined): { min: number; max: number } {
  const min = numberAt(light, "color_temperature", "mirek_schema", "mirek_minimum") ?? MIREK.min;
  const max = numberAt(light, "color_temperature", "mirek_schema", "mirek_maximum") ?? MIREK.max;
  return min > 0 && min < max ? { min, max } : MIREK;
}

function toMirek(light: Resource | undefined, asked: number): number {
  const { min, max } = mirekRange(light);
  return within(min, toMired(asked), max);
}

/**
 * Lights have 254 steps, so whole percents are returned as they were sent. A light that is on is
 * never at 0.
 */
function wholePercent(brightness: number): number {
  return brightness > 0 ? within(1, Math.round(brightness), 100) : 0;
}

function effectsOf(light: Resource | undefined): string[] {
  const values = at(light, "effects", "effect_values");
  if (!Array.isArray(values)) return [];
  const texts = values.filter((value): value is string => typeof value === "string");
  return [...new Set(texts)]
    .filter(({ length }) => length > 0 && length <= 60)
    .slice(0, MOST_EFFECTS);
}

function within(min: number, value: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

/** Clamps a reported value that is slightly outside the declared range. */
function inRange(capability: Capability | undefined, value: number): number {
  if (capability?.type !== "number") return value;
  return within(capability.min ?? -Infinity, value, capability.max ?? Infinity);
}
