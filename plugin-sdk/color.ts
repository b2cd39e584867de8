import type { Color } from "./device.ts";

/** A point in the CIE 1931 xy chromaticity diagram, the form in which many bridges express colours. */
export interface Chromaticity {
  readonly x: number;
  readonly y: number;
}

/** The colours that a light can show: the triangle between its red, green and blue primaries. */
export interface Gamut {
  readonly red: Chromaticity;
  readonly green: Chromaticity;
  readonly blue: Chromaticity;
}

type Triple = readonly [number, number, number];

/**
 * Converts a colour at full brightness to chromaticity with four decimals (sRGB, white D65: IEC 61966-2-1).
 * With a gamut, the result is the nearest point inside it.
 */
export function toChromaticity({ hue, saturation }: Color, gamut?: Gamut): Chromaticity {
  const part = (offset: number): number => {
    const sixth = (offset + hue / 60) % 6;
    return linear(1 - (saturation / 100) * Math.max(0, Math.min(sixth, 4 - sixth, 1)));
  };
  const [red, green, blue] = [part(5), part(3), part(1)];
  const x = 0.4123908 * red + 0.3575843 * green + 0.1804808 * blue;
  const y = 0.212639 * red + 0.7151687 * green + 0.0721923 * blue;
  const z = 0.0193308 * red + 0.1191948 * green + 0.9505322 * blue;
  const sum = x + y + z;
  const point = nearestIn(gamut, { x: x / sum, y: y / sum });
  return { x: rounded(point.x), y: rounded(point.y) };
}

/**
 * Converts chromaticity to hue (whole degrees) and saturation (whole percent), the precision that four
 * decimals allow. A colour outside sRGB becomes the nearest sRGB colour; an invalid point becomes white.
 */
export function toHueSaturation({ x, y }: Chromaticity): Color {
  if (!(x >= 0 && y >= 0.001 && x + y <= 1)) return { hue: 0, saturation: 0 };
  const [bigX, bigZ] = [x / y, (1 - x - y) / y];
  const parts = [
    3.2409699 * bigX - 1.5373832 - 0.4986108 * bigZ,
    -0.9692436 * bigX + 1.8759675 + 0.0415551 * bigZ,
    0.0556301 * bigX - 0.203977 + 1.0569715 * bigZ,
  ].map((part) => Math.max(0, part));
  const brightest = Math.max(...parts);
  return hueOf(parts.map((part) => curved(part / brightest)) as unknown as Triple);
}

/** The Euclidean distance between two points. */
export function distance(a: Chromaticity, b: Chromaticity): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function hueOf([red, green, blue]: Triple): Color {
  const most = Math.max(red, green, blue);
  const span = most - Math.min(red, green, blue);
  if (span === 0) return { hue: 0, saturation: 0 };
  const sixth =
    most === red
      ? (green - blue) / span
      : most === green
        ? 2 + (blue - red) / span
        : 4 + (red - green) / span;
  const hue = Math.round((sixth * 60 + 360) % 360) % 360;
  return { hue, saturation: Math.round((span / most) * 100) };
}

function nearestIn(gamut: Gamut | undefined, point: Chromaticity): Chromaticity {
  if (!gamut) return point;
  const { red, green, blue } = gamut;
  const edges = [
    [red, green],
    [green, blue],
    [blue, red],
  ] as const;
  const sides = edges.map(([from, to]) => side(point, from, to));
  if (sides.every((each) => each >= 0) || sides.every((each) => each <= 0)) return point;
  const found = edges.map(([from, to]) => onEdge(point, from, to));
  return found.toSorted((a, b) => distance(a, point) - distance(b, point))[0] ?? point;
}

function side(point: Chromaticity, from: Chromaticity, to: Chromaticity): number {
  return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

function onEdge(point: Chromaticity, from: Chromaticity, to: Chromaticity): Chromaticity {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy || 1;
  const along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const share = Math.min(1, Math.max(0, along));
  return { x: from.x + share * dx, y: from.y + share * dy };
}

/** The transfer function of sRGB and its inverse. */
const linear = (c: number): number => (c > 0.04045 ? ((c + 0.055) / 1.055) ** 2.4 : c / 12.92);
const curved = (c: number): number => (c > 0.0031308 ? 1.055 * c ** (1 / 2.4) - 0.055 : 12.92 * c);

const rounded = (n: number): number => Math.round(n * 10_000) / 10_000;
