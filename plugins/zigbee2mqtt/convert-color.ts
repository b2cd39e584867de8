import { type Chromaticity, type Color, toChromaticity, toHueSaturation } from "@mantel/plugin-sdk";
import { type Draft, draftOf } from "./drafts.ts";
import type { Expose } from "./exposes.ts";
import { type Form, valueAt } from "./feature.ts";

/** Tolerance for a confirmed colour, because lights round values. */
const NEAR_XY = 0.01;
const NEAR_HS = 3;

/** True for the two colour formats, `color_xy` and `color_hs`. */
export function isColor({ name }: Expose): boolean {
  return name === "color_xy" || name === "color_hs";
}

/**
 * The colour of a light that has at least one of the two formats; both write into the same object.
 */
export function colorDraft(colors: readonly [Expose, ...Expose[]]): Draft {
  const byXy = colors.find((each) => each.name === "color_xy");
  const expose = byXy ?? colors[0];
  const form: Form = {
    capability: { type: "color" },
    read: (raw) => toColor(raw),
    ...writing(byXy !== undefined),
  };
  return draftOf(expose, form, {
    name: "color",
    isUnused: (payload) => colorModeIn(payload, expose) === "color_temp",
  });
}

function writing(asXy: boolean): Pick<Form, "write" | "confirms"> {
  return asXy
    ? {
        write: (value) => toChromaticity(value as Color),
        confirms: (raw, written) => isNearXy(raw, written as Chromaticity),
      }
    : {
        write: (value) => value,
        confirms: (raw, written) => isNearHs(raw, written as Color),
      };
}

/** Lights report chromaticity; hue and saturation beside it may be outdated. */
function toColor(raw: unknown): Color | null {
  const { x, y, hue, saturation } = (raw ?? {}) as Record<string, unknown>;
  if (isNumber(x) && isNumber(y)) return toHueSaturation({ x, y });
  if (!isNumber(hue) || !isNumber(saturation)) return null;
  const isColorOf = hue >= 0 && hue <= 360 && saturation >= 0 && saturation <= 100;
  return isColorOf ? { hue: rounded(hue), saturation: rounded(saturation) } : null;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

function isNearXy(raw: unknown, { x, y }: Chromaticity): boolean {
  const told = (raw ?? {}) as Partial<Record<"x" | "y", unknown>>;
  return Math.abs(Number(told.x) - x) <= NEAR_XY && Math.abs(Number(told.y) - y) <= NEAR_XY;
}

function isNearHs(raw: unknown, { hue, saturation }: Color): boolean {
  const told = (raw ?? {}) as Partial<Record<"hue" | "saturation", unknown>>;
  const apart = Math.abs(Number(told.hue) - hue) % 360;
  const isNearHue = Math.min(apart, 360 - apart) <= NEAR_HS || saturation <= NEAR_HS;
  return isNearHue && Math.abs(Number(told.saturation) - saturation) <= NEAR_HS;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A light reports both a colour and a white; `color_mode` says which of them is in use. */
export function colorModeIn(payload: unknown, { endpoint }: Expose): string {
  const key = endpoint === undefined ? "color_mode" : `color_mode_${endpoint}`;
  return String(valueAt(payload, [key]));
}
