import type { Color } from "@mantel/plugin-sdk";

/** A point of the CIE 1931 colour space, as bridges name colours. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The colours that a light can show: the triangle between its own red, green and blue. */
export interface Gamut {
  readonly red: Point;
  readonly green: Point;
  readonly blue: Point;
}

/** The point of a colour at full brightness, in sRGB with its white D65; the nearest that the gamut has. */
export function toPoint({ hue, saturation }: Color, gamut?: Gamut): Point {
  const [r, g, b] = [5, 3, 1].map((n) => {
    const k = (n + hue / 60) % 6;
    return linear(1 - (saturation / 100) * Math.max(0, Math.min(k, 4 - k, 1)));
  }) as [number, number, number];
  const X = 0.4124 * r + 0.3576 * g + 0.1805 * b;
  const Y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const Z = 0.0193 * r + 0.1192 * g + 0.9505 * b;
  const sum = X + Y + Z;
  const point = nearest({ x: X / sum, y: Y / sum }, gamut);
  return { x: rounded(point.x), y: rounded(point.y) };
}

/** The colour of a point, in whole degrees and percent. */
export function toColor({ x, y }: Point): Color {
  if (y <= 0) return { hue: 0, saturation: 0 };
  const X = x / y;
  const Z = (1 - x - y) / y;
  const channels = [
    3.2406 * X - 1.5372 - 0.4986 * Z,
    -0.9689 * X + 1.8758 + 0.0415 * Z,
    0.0557 * X - 0.204 + 1.057 * Z,
  ].map((channel) => Math.max(0, channel)); // what sRGB does not have is shown as what it has next to it
  const brightest = Math.max(...channels);
  if (!(brightest > 0)) return { hue: 0, saturation: 0 };
  return toHue(channels.map((channel) => curved(channel / brightest)) as [number, number, number]);
}

function toHue([r, g, b]: readonly [number, number, number]): Color {
  const high = Math.max(r, g, b);
  const spread = high - Math.min(r, g, b);
  if (spread === 0) return { hue: 0, saturation: 0 };
  const sixth =
    high === r ? (g - b) / spread : high === g ? 2 + (b - r) / spread : 4 + (r - g) / spread;
  const hue = Math.round((sixth * 60 + 360) % 360) % 360;
  return { hue, saturation: Math.round((spread / high) * 100) };
}

/** sRGB's transfer function and its inverse (IEC 61966-2-1). */
const linear = (c: number): number => (c > 0.04045 ? ((c + 0.055) / 1.055) ** 2.4 : c / 12.92);
const curved = (c: number): number => (c > 0.0031308 ? 1.055 * c ** (1 / 2.4) - 0.055 : 12.92 * c);

function nearest(point: Point, gamut: Gamut | undefined): Point {
  if (!gamut) return point;
  const { red, green, blue } = gamut;
  const edges = [
    [red, green],
    [green, blue],
    [blue, red],
  ] as const;
  const sides = edges.map(([from, to]) => side(point, from, to));
  if (sides.every((s) => s >= 0) || sides.every((s) => s <= 0)) return point;
  const found = edges.map(([from, to]) => onEdge(point, from, to));
  return found.toSorted((a, b) => distance(a, point) - distance(b, point))[0] ?? point;
}

function side(point: Point, from: Point, to: Point): number {
  return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

function onEdge(point: Point, from: Point, to: Point): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy || 1;
  const along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const share = Math.min(1, Math.max(0, along));
  return { x: from.x + share * dx, y: from.y + share * dy };
}

/** How far two points are apart. */
export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

const rounded = (n: number): number => Math.round(n * 10_000) / 10_000;
