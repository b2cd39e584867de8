import { type Capability, toKelvin, toLevel, toMired, toPercent } from "@mantel/plugin-sdk";
import type { Options } from "../options.ts";
import { choice } from "./capabilities.ts";

/** The white of a lamp, in kelvin on both sides or in mireds on theirs. */
export interface White {
  readonly capability: Capability;
  readonly toOurs: (raw: number) => number;
  readonly toTheirs: (kelvin: number) => number;
}

const COLDEST_MIREDS = 153;
const WARMEST_MIREDS = 500;

/** The range of the vocabulary, in kelvin. */
const [LOWEST, HIGHEST] = [500, 20_000];

/** The format and range of a lamp's colour temperature. */
export function whiteOf(options: Options): White {
  const bound = (kelvin: string, mireds: string, absent: number) =>
    Math.min(
      HIGHEST,
      Math.max(LOWEST, options.number(kelvin, toKelvin(options.number(mireds, absent)))),
    );
  const min = bound("min_kelvin", "max_mireds", WARMEST_MIREDS);
  const max = bound("max_kelvin", "min_mireds", COLDEST_MIREDS);
  const inKelvin = options.flag("color_temp_kelvin");
  const within = (kelvin: number) =>
    Math.min(Math.max(min, max), Math.max(Math.min(min, max), kelvin));
  return {
    capability: {
      type: "number",
      min: Math.min(min, max),
      max: Math.max(min, max),
      step: 50,
      unit: "K",
    },
    toOurs: (raw) => within(inKelvin ? Math.round(raw) : toKelvin(raw)),
    toTheirs: (kelvin) => (inKelvin ? Math.round(kelvin) : toMired(kelvin)),
  };
}

export function effectsOf(options: Options): Capability | undefined {
  const list = options.texts("effect_list");
  return list && choice(list);
}

/** The values that a lamp takes for a requested brightness and white. */
export const lightRounding = (scale: number, white: White | undefined) => ({
  brightness: (percent: number) => toPercent(toLevel(percent, scale), scale),
  ...(white ? { colorTemperature: (kelvin: number) => white.toOurs(white.toTheirs(kelvin)) } : {}),
});

/** The value for full brightness; less than 1 counts as 255 */
export function scaleOf(options: Options): number {
  const scale = options.number("brightness_scale", 255);
  return scale >= 1 ? scale : 255;
}
