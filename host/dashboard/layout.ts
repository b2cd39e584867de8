/** Grid cells; `x` and `y` count from 0. */
export interface Geometry {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}
export type Breakpoint = "lg" | "md" | "sm";

export interface PlacedWidget {
  readonly id: string;
  readonly module: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly geometry: { readonly lg: Geometry; readonly md?: Geometry; readonly sm?: Geometry };
}

export interface Page {
  readonly id: string;
  readonly title: string;
  readonly icon?: string;
  readonly widgets: readonly PlacedWidget[];
}

/** A screen of the home and its own settings. Absent fields use the general settings. */
export interface Display {
  readonly id: string;
  readonly name: string;
  /** Ids of pages, in order. */
  readonly pages: readonly string[];
  readonly theme?: "auto" | "dark" | "light" | "night";
  readonly night?: { readonly from: string; readonly to: string } | null;
  readonly kiosk?: boolean;
  readonly rotateSeconds?: number;
}

/** The parts of the layout document that the dashboard uses. */
export interface Layout {
  readonly revision: number;
  readonly grid: { readonly columns: number; readonly rowHeight: number; readonly gap: number };
  readonly pages: readonly Page[];
  readonly displays: readonly Display[];
}

/** A widget or the header on a page's grid. */
export interface Cell {
  readonly id: string;
  readonly geometry: Geometry;
}

/** Name of the header in the grid. */
export const HEADER = "#header";
const HEADER_PX = 48;

/**
 * The cells of a page at one breakpoint, including the header, in reading order. Derived from the
 * wall layout unless all widgets have a geometry for the breakpoint.
 */
export function arrange(page: Page, grid: Layout["grid"], breakpoint: Breakpoint): Cell[] {
  const stored = cellsAt(page, breakpoint);
  if (stored) return inReadingOrder(withHeader(stored, grid));
  const wall = inReadingOrder(withHeader(cellsAt(page, "lg") ?? [], grid));
  return breakpoint === "md" ? stackBands(wall, grid) : stackAll(wall, grid);
}

function cellsAt({ widgets }: Page, breakpoint: Breakpoint): Cell[] | undefined {
  const cells = widgets.flatMap(({ id, geometry: { [breakpoint]: geometry } }) =>
    geometry ? [{ id, geometry }] : [],
  );
  return cells.length === widgets.length ? cells : undefined;
}

/** Places the header in the free corner at the top right. If it is taken, moves all cells down. */
function withHeader(cells: readonly Cell[], grid: Layout["grid"]): Cell[] {
  const rows = Math.ceil((HEADER_PX + grid.gap) / (grid.rowHeight + grid.gap));
  const top = cells.filter(({ geometry }) => geometry.y < rows);
  const usedColumns = Math.max(0, ...top.map(({ geometry }) => geometry.x + geometry.w));
  const fits = grid.columns - usedColumns >= grid.columns / 2;
  const x = fits ? usedColumns : 0;
  const header = { id: HEADER, geometry: { x, y: 0, w: grid.columns - x, h: rows } };
  return [header, ...(fits ? cells : cells.map((cell) => moved(cell, 0, rows)))];
}

function moved({ id, geometry }: Cell, dx: number, dy: number): Cell {
  return { id, geometry: { ...geometry, x: geometry.x + dx, y: geometry.y + dy } };
}

/**
 * Sorts cells as people read a wall, columns before rows: cuts the page from top to bottom wherever
 * no cell is crossed, then each part from left to right, and so on recursively.
 */
export function inReadingOrder(cells: readonly Cell[]): Cell[] {
  const bands = cut(cells, "x", "w");
  if (bands.length > 1) return bands.flatMap(inReadingOrder);
  const rows = cut(cells, "y", "h");
  if (rows.length > 1) return rows.flatMap(inReadingOrder);
  return cells.toSorted((a, b) => a.geometry.y - b.geometry.y || a.geometry.x - b.geometry.x);
}

/** Groups of cells that do not overlap along one axis, first to last. */
function cut(cells: readonly Cell[], at: "x" | "y", length: "w" | "h"): Cell[][] {
  const parts: Cell[][] = [];
  let end = -1;
  for (const cell of cells.toSorted((a, b) => a.geometry[at] - b.geometry[at])) {
    const part = parts.at(-1);
    if (part && cell.geometry[at] < end) part.push(cell);
    else parts.push([cell]);
    end = Math.max(end, cell.geometry[at] + cell.geometry[length]);
  }
  return parts;
}

/** Layout for an upright tablet: the bands of the wall below each other, each at full width. */
function stackBands(cells: readonly Cell[], { columns }: Layout["grid"]): Cell[] {
  let y = 0;
  return cut(cells, "x", "w").flatMap((band) => {
    const left = Math.min(...band.map(({ geometry }) => geometry.x));
    const right = Math.max(...band.map(({ geometry }) => geometry.x + geometry.w));
    const scale = columns / (right - left);
    const start = y;
    y += Math.max(...band.map(({ geometry }) => geometry.y + geometry.h));
    return inReadingOrder(band).map(({ id, geometry }) => {
      const x = Math.round((geometry.x - left) * scale);
      const end = Math.round((geometry.x + geometry.w - left) * scale);
      return { id, geometry: { x, y: start + geometry.y, w: end - x, h: geometry.h } };
    });
  });
}

/**
 * Layout for a phone: cells below each other. Cells of at most a quarter of the width share a row.
 */
function stackAll(cells: readonly Cell[], { columns }: Layout["grid"]): Cell[] {
  let x = 0;
  let y = 0;
  return cells.map(({ id, geometry }) => {
    const w = phoneWidth(geometry.w, columns);
    if (x + w > columns) [x, y] = [0, y + 1];
    const cell = { id, geometry: { x, y, w, h: 1 } };
    x += w;
    return cell;
  });
}

/** The number of columns on a phone for a width of `w` columns on the wall. */
export function phoneWidth(w: number, columns: number): number {
  return w <= columns / 4 ? Math.floor(columns / 2) : columns;
}
