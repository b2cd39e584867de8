import type { LayoutDocument } from "../../api/layout.ts";
import type { Breakpoint, Geometry } from "../layout.ts";

export type { LayoutDocument };
export type LayoutPage = LayoutDocument["pages"][number];
export type LayoutWidget = LayoutPage["widgets"][number];
/** A breakpoint at which a page may have an arrangement of its own, different from the wall's. */
export type Override = Exclude<Breakpoint, "lg">;

export function findPage({ pages }: LayoutDocument, id: string): LayoutPage | undefined {
  return pages.find((page) => page.id === id);
}

/** The page that contains a widget. */
export function pageOf({ pages }: LayoutDocument, id: string): LayoutPage | undefined {
  return pages.find(({ widgets }) => widgets.some((widget) => widget.id === id));
}

export function findWidget(document: LayoutDocument, id: string): LayoutWidget | undefined {
  return pageOf(document, id)?.widgets.find((widget) => widget.id === id);
}

/**
 * True if a page is arranged manually at a breakpoint. Otherwise its arrangement is derived from
 * the wall's.
 */
export function isOverridden({ widgets }: LayoutPage, at: Override): boolean {
  return widgets.length > 0 && widgets.every(({ geometry }) => geometry[at] !== undefined);
}

/** An id that is not in `taken`: `clock`, then `clock-2`. */
export function freeId(base: string, taken: Iterable<string>): string {
  const all = new Set(taken);
  const stem = base.slice(0, 56);
  for (let number = 2, id = stem; ; id = `${stem}-${number++}`) if (!all.has(id)) return id;
}

/** The first free place for a widget of this size, row by row. */
export function firstFree(
  taken: readonly Geometry[],
  { w, h }: { readonly w: number; readonly h: number },
  columns: number,
): Geometry {
  const width = Math.min(w, columns);
  for (let y = 0; ; y++) {
    for (let x = 0; x + width <= columns; x++) {
      const place = { x, y, w: width, h };
      if (!taken.some((each) => overlap(each, place))) return place;
    }
  }
}

/** The first row below all widgets. */
export function bottomOf(taken: readonly Geometry[]): number {
  return Math.max(0, ...taken.map(({ y, h }) => y + h));
}

export function overlap(a: Geometry, b: Geometry): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** True if two JSON values are equal, ignoring the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && sameJson(value, right.get(key)))
  );
}
