import { arrange, type Breakpoint, type Cell, type Geometry, HEADER } from "../layout.ts";
import { type LayoutDocument, type LayoutPage, overlap } from "./document.ts";

/** The page and the screen that are shown. */
export interface Shown {
  readonly page: LayoutPage;
  readonly grid: LayoutDocument["grid"];
  readonly breakpoint: Breakpoint;
}

/** The places of a page's widgets on a screen: as stored, or as derived by the shell. */
export function placesOf({ page, grid, breakpoint }: Shown): Map<string, Geometry> {
  if (breakpoint === "lg") {
    return new Map(page.widgets.map(({ id, geometry }) => [id, geometry.lg]));
  }
  const stored = page.widgets.flatMap(({ id, geometry: { [breakpoint]: geometry } }) =>
    geometry ? [{ id, geometry }] : [],
  );
  if (stored.length === page.widgets.length) return packed(stored);
  return packed(arrange(page, grid, breakpoint).filter(({ id }) => id !== HEADER));
}

/** Closes vertical gaps, because rows on small screens are only as high as their content. */
function packed(cells: readonly Cell[]): Map<string, Geometry> {
  const places = new Map<string, Geometry>();
  for (const { id, geometry } of cells.toSorted((a, b) => a.geometry.y - b.geometry.y)) {
    const isFree = (y: number): boolean =>
      ![...places.values()].some((each) => overlap(each, { ...geometry, y }));
    let { y } = geometry;
    while (y > 0 && isFree(y - 1)) y--;
    places.set(id, { ...geometry, y });
  }
  return places;
}

/** A place moved and resized by some cells, within the grid. */
export function shiftedPlace(
  now: Geometry,
  { x = 0, y = 0, w = 0, h = 0 }: Partial<Geometry>,
): Geometry {
  return {
    x: Math.max(0, now.x + x),
    y: Math.max(0, now.y + y),
    w: Math.max(1, now.w + w),
    h: Math.max(1, now.h + h),
  };
}
