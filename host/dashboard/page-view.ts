import { arrange, type Breakpoint, type Cell, type Layout, type Page } from "./layout.ts";
import { Tile, type TileDependencies } from "./tile.ts";

/** Minimum height of a tile on a narrow screen, in CSS pixels. Heights follow the content there. */
const LEAST_FLOW_PX = 116;
/** The rows from which a page is full: its rows may then double to fill a high wall. */
const FULL_ROWS = 18;
/** Unit of the heights, so that tiles grow with their text. */
const REM_PX = 16;

/** The arrangement to draw. */
export interface Arrangement {
  readonly grid: Layout["grid"];
  readonly breakpoint: Breakpoint;
  /** The shell's header, if this page shows it. */
  readonly header: HTMLElement | undefined;
}

/**
 * One page of the layout as a CSS grid of tiles. A tile stays while its widget is in the layout.
 */
export class PageView {
  readonly element = document.createElement("main");
  readonly #parts: TileDependencies;
  readonly #tiles = new Map<string, Tile>();

  constructor(parts: TileDependencies) {
    this.#parts = parts;
    this.element.className = "page";
  }

  show(page: Page, { grid, breakpoint, header }: Arrangement): void {
    const cells = arrange(page, grid, breakpoint);
    this.#setGrid(cells, grid);
    this.#setTiles(page);
    const elements = cells.flatMap(({ id, geometry }) => {
      const tile = this.#tiles.get(id);
      const element = tile?.element ?? header;
      if (!element) return [];
      place(element, geometry, breakpoint);
      tile?.resize(geometry, breakpoint === "lg" ? undefined : leastHeight(geometry, grid));
      return [element];
    });
    this.#setOrder(elements);
  }

  set hidden(hidden: boolean) {
    this.element.hidden = hidden;
  }

  close(): void {
    for (const tile of this.#tiles.values()) tile.close();
    this.#tiles.clear();
    this.element.remove();
  }

  #setGrid(cells: readonly Cell[], { columns, rowHeight, gap }: Layout["grid"]): void {
    const rows = Math.max(...cells.map(({ geometry }) => geometry.y + geometry.h));
    const { style } = this.element;
    style.setProperty("--columns", `${columns}`);
    style.setProperty("--rows", `${rows}`);
    style.setProperty("--row", `${rowHeight / REM_PX}rem`);
    style.setProperty("--gap", `calc(${gap} * var(--mantel-px))`);
    style.setProperty("--growth", rows < FULL_ROWS ? "1.25" : "2");
  }

  #setTiles({ widgets }: Page): void {
    const widgetsById = new Map(widgets.map((widget) => [widget.id, widget]));
    for (const [id, tile] of this.#tiles) {
      if (widgetsById.get(id)?.module === tile.moduleId) continue;
      tile.close();
      this.#tiles.delete(id);
    }
    for (const [id, widget] of widgetsById) {
      const tile = this.#tiles.get(id);
      if (tile) tile.config = widget.config;
      else this.#tiles.set(id, new Tile(widget, this.#parts));
    }
  }

  /**
   * Moving an element loses its focus and restarts animations, so only misplaced elements are
   * moved.
   */
  #setOrder(elements: readonly HTMLElement[]): void {
    let next = this.element.firstElementChild;
    for (const element of elements) {
      if (element === next) next = next.nextElementSibling;
      else moveBefore(this.element, element, next);
    }
  }
}

/** Moving a frame reloads it, except in browsers that support `moveBefore`. */
function moveBefore(parent: HTMLElement, element: HTMLElement, next: Element | null): void {
  const isMove = element.parentElement === parent && "moveBefore" in parent;
  parent[isMove ? "moveBefore" : "insertBefore"](element, next);
}

function place(element: HTMLElement, { x, y, w, h }: Cell["geometry"], at: Breakpoint): void {
  element.style.gridColumn = `${x + 1} / span ${w}`;
  element.style.gridRow = at === "lg" ? `${y + 1} / span ${h}` : "";
}

function leastHeight({ h }: Cell["geometry"], { rowHeight, gap }: Layout["grid"]): number {
  return Math.min(LEAST_FLOW_PX, h * rowHeight + (h - 1) * gap) / REM_PX;
}
