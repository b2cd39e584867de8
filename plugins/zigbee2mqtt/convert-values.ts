import type { Color } from "@mantel/plugin-sdk";

/** CIE 1931 chromaticity, as Zigbee lights take it. */
export interface Chromaticity {
  readonly x: number;
  readonly y: number;
}

/**
 * A level of 0 to `max` as percent. A whole percent that is written comes back as itself, and each level
 * has a percent of its own, so values do not drift however often they go around.
 */
export function toPercent(level: number, max: number): number {
  const whole = Math.round((level / max) * 100);
  return toLevel(whole, max) === level ? whole : rounded((level / max) * 100, max > 500 ? 3 : 1);
}

/** A percent as a level of 0 to `max`; above 0 it never becomes 0, which would turn the light off. */
export function toLevel(percent: number, max: number): number {
  const level = Math.round((percent / 100) * max);
  return percent > 0 ? Math.max(1, level) : 0;
}

/** Colour temperature: mired to kelvin, and back. */
export const reciprocal = (value: number): number => Math.round(1e6 / value);

/** Hue and saturation at full brightness (sRGB, D65) as chromaticity. */
export function toChromaticity({ hue, saturation }: Color): Chromaticity {
  const [red, green, blue] = linearRgb(hue, saturation / 100);
  const x = 0.4123908 * red + 0.3575843 * green + 0.1804808 * blue;
  const y = 0.212639 * red + 0.7151687 * green + 0.0721923 * blue;
  const z = 0.0193308 * red + 0.1191948 * green + 0.9505322 * blue;
  const sum = x + y + z;
  return { x: rounded(x / sum, 4), y: rounded(y / sum, 4) };
}

/** Chromaticity as hue and saturation; what sRGB cannot show becomes the nearest that it can. */
export function toHueSaturation({ x, y }: Chromaticity): Color {
  if (!(x >= 0 && y >= 0.001 && x + y <= 1)) return { hue: 0, saturation: 0 };
  const [bigX, bigZ] = [x / y, (1 - x - y) / y];
  const linear = [
    3.2409699 * bigX - 1.5373832 - 0.4986108 * bigZ,
    -0.9692436 * bigX + 1.8759675 + 0.0415551 * bigZ,
    0.0556301 * bigX - 0.203977 + 1.0569715 * bigZ,
  ].map((part) => Math.max(0, part));
  const brightest = Math.max(...linear);
  const [red = 0, green = 0, blue = 0] = linear.map((part) => encoded(part / brightest));
  return hueOf(red, green, blue);
}

function hueOf(red: number, green: number, blue: number): Color {
  const max = Math.max(red, green, blue);
  const span = max - Math.min(red, green, blue);
  if (span === 0) return { hue: 0, saturation: 0 };
  const sixth =
    max === red
      ? ((green - blue) / span + 6) % 6
      : max === green
        ? (blue - red) / span + 2
        : (red - green) / span + 4;
  return { hue: rounded(sixth * 60, 1) % 360, saturation: rounded((span / max) * 100, 1) };
}

function linearRgb(hue: number, saturation: number): [number, number, number] {
  const part = (offset: number): number => {
    const sixth = (offset + hue / 60) % 6;
    const value = 1 - saturation * Math.max(0, Math.min(sixth, 4 - sixth, 1));
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(5), part(3), part(1)];
}

function encoded(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}

/** Without the dust of binary fractions. */
export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}
