import { arrange, type Breakpoint, type Cell, HEADER, type Layout, type Page } from "./layout.ts";
import { Tile, type TileParts } from "./tile.ts";

/** On a narrow screen heights follow the content; this is the least a tile gets, in CSS pixels. */
const LEAST_FLOW_PX = 116;

/** One page of the layout as a CSS grid of tiles. Tiles stay while their widget stays in the layout. */
export class PageView {
  readonly element = document.createElement("main");
  readonly #parts: TileParts;
  readonly #tiles = new Map<string, Tile>();

  constructor(parts: TileParts) {
    this.#parts = parts;
    this.element.className = "page";
  }

  /** Shows a page; `header` is put into its grid when given. */
  show(page: Page, grid: Layout["grid"], breakpoint: Breakpoint, header?: HTMLElement): void {
    const cells = arrange(page, grid, breakpoint);
    const widgets = new Map(page.widgets.map((widget) => [widget.id, widget]));
    this.#setGrid(cells, grid);
    for (const [id, tile] of this.#tiles) {
      const kept = widgets.get(id)?.module === tile.element.dataset.module;
      if (!kept) this.#drop(id, tile);
    }
    let last: Element | undefined;
    for (const { id, geometry } of cells) {
      const widget = widgets.get(id);
      const tile = widget && (this.#tiles.get(id) ?? this.#add(id, new Tile(widget, this.#parts)));
      if (widget) tile?.update(widget, geometry);
      const element = tile?.element ?? header;
      if (!element) continue;
      place(element, geometry, breakpoint);
      if (tile) {
        tile.flow = breakpoint !== "lg";
        const natural = geometry.h * grid.rowHeight + (geometry.h - 1) * grid.gap;
        element.style.minHeight = breakpoint === "lg" ? "" : `${Math.min(natural, LEAST_FLOW_PX)}px`;
      }
      // An element that is moved loses focus and restarts its frames, so only what is out of place is.
      const next = last ? last.nextElementSibling : this.element.firstElementChild;
      if (next !== element) this.element.insertBefore(element, next);
      last = element;
    }
  }

  set hidden(hidden: boolean) {
    this.element.hidden = hidden;
  }

  close(): void {
    for (const [id, tile] of this.#tiles) this.#drop(id, tile);
    this.element.remove();
  }

  #setGrid(cells: readonly Cell[], { columns, rowHeight, gap }: Layout["grid"]): void {
    const rows = Math.max(...cells.map(({ geometry }) => geometry.y + geometry.h));
    const { style } = this.element;
    style.setProperty("--columns", `${columns}`);
    style.setProperty("--rows", `${rows}`);
    style.setProperty("--row", `${rowHeight}px`);
    style.setProperty("--gap", `${gap}px`);
  }

  #add(id: string, tile: Tile): Tile {
    this.#tiles.set(id, tile);
    return tile;
  }

  #drop(id: string, tile: Tile): void {
    tile.close();
    this.#tiles.delete(id);
  }
}

function place(element: HTMLElement, { x, y, w, h }: Cell["geometry"], breakpoint: Breakpoint): void {
  element.style.gridColumn = `${x + 1} / span ${w}`;
  element.style.gridRow = breakpoint === "lg" ? `${y + 1} / span ${h}` : "";
}
