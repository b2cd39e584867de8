import { type Breakpoint, type Geometry, phoneWidth } from "../layout.ts";
import type { AnyWidget } from "../widget-loader.ts";

export type WidgetSize = AnyWidget["size"];

/** Minimum and maximum size of a tile, in cells. */
export interface Limits {
  readonly minW: number;
  readonly minH: number;
  readonly maxW: number;
  readonly maxH: number;
}

/** The grid of a screen. */
export interface Screen {
  readonly breakpoint: Breakpoint;
  readonly columns: number;
}

/** Widget sizes are in columns of the wall; a tile on a phone needs about a third of them. */
const PHONE_COLUMNS = 3;

/**
 * The size limits of a tile at `place`. A tile outside its recommended size may keep its size or
 * move towards the recommendation. On tablets and phones the height follows the content and cannot
 * be set.
 */
export function limitsFor(place: Geometry, size: WidgetSize | undefined, on: Screen): Limits {
  const { minW, minH, maxW, maxH } = asked(size, on);
  const isWall = on.breakpoint === "lg";
  return {
    minW: Math.min(minW, place.w),
    maxW: Math.max(maxW, place.w),
    minH: isWall ? Math.min(minH, place.h) : place.h,
    maxH: isWall ? Math.max(maxH, place.h) : place.h,
  };
}

/**
 * True if a tile is too small or too large for its widget. A layout may contain such tiles, and they are
 * shown as stored.
 */
export function sizeMisfit(
  { w, h }: Geometry,
  size: WidgetSize | undefined,
  on: Screen,
): "small" | "large" | undefined {
  const { minW, minH, maxW, maxH } = asked(size, on);
  if (w < minW || h < minH) return "small";
  return w > maxW || h > maxH ? "large" : undefined;
}

/** The size of a new tile on a screen, in cells. */
export function firstSize(
  size: WidgetSize | undefined,
  on: Screen,
): { readonly w: number; readonly h: number } {
  const { minW, minH } = asked(size, on);
  const [w, h] = size?.default ?? [4, 4];
  const isPhone = on.breakpoint === "sm";
  const width = isPhone ? phoneWidth(w, on.columns) : w;
  return { w: Math.min(on.columns, Math.max(width, minW)), h: isPhone ? 1 : Math.max(h, minH) };
}

function asked(size: WidgetSize | undefined, { breakpoint, columns }: Screen): Limits {
  const [leastW, leastH] = size?.min ?? [1, 1];
  const [mostW, mostH] = size?.max ?? [Infinity, Infinity];
  const scale = breakpoint === "sm" ? PHONE_COLUMNS : 1;
  const isWall = breakpoint === "lg";
  return {
    minW: Math.min(columns, leastW * scale),
    maxW: Math.min(columns, mostW * scale),
    minH: isWall ? leastH : 1,
    maxH: isWall ? mostH : Infinity,
  };
}
