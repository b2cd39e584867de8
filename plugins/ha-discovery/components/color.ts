import { type Color, toChromaticity, toHueSaturation } from "@mantel/plugin-sdk";

type Triple = readonly [number, number, number];

const limited = (value: number, max: number) => Math.min(max, Math.max(0, value));
const decimals = (value: number, count: number) => Number(value.toFixed(count));

/** A colour of so much hue and saturation, within the bounds of both. */
export function color(hue: number, saturation: number): Color | undefined {
  if (!Number.isFinite(hue) || !Number.isFinite(saturation)) return undefined;
  return { hue: decimals(limited(hue, 360), 1), saturation: decimals(limited(saturation, 100), 1) };
}

/** Red, green and blue from 0 to 255, as bright as can be. */
export function toRgb({ hue, saturation }: Color): Triple {
  const part = (offset: number) => {
    const at = (offset + hue / 60) % 6;
    const away = Math.max(0, Math.min(at, 4 - at, 1));
    return Math.round(255 * (1 - (saturation / 100) * away));
  };
  return [part(5), part(3), part(1)];
}

export function fromRgb([red, green, blue]: Triple): Color | undefined {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range === 0 || most === 0) return color(0, 0);
  const sector =
    most === red
      ? ((green - blue) / range + 6) % 6
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return color(sector * 60, (range / most) * 100);
}

/** The place of a colour in the CIE 1931 diagram. */
export function toXy(of: Color): readonly [x: number, y: number] {
  const { x, y } = toChromaticity(of);
  return [x, y];
}

/** The colour at a place in the CIE 1931 diagram, if there is one. */
export function fromXy(x: number, y: number): Color | undefined {
  return x >= 0 && y > 0 && x + y <= 1 ? toHueSaturation({ x, y }) : undefined;
}
