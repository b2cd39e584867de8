import { GridStack, type GridItemHTMLElement, type GridStackNode } from "gridstack";
import type { Geometry } from "../layout.ts";
import { Tile, type TileParts } from "../tile.ts";
import { showTarget, targetAt } from "./bar.ts";
import type { LayoutPage } from "./document.ts";
import { DRAGGED_IN } from "./drag-in.ts";
import { limitsFor, misfit, type WidgetSize } from "./limits.ts";
import { placesOf, shifted, type Shown } from "./places.ts";
import { words } from "./words.ts";

/** Heights on a phone follow what a tile shows; here each takes one row of this many CSS pixels. */
const PHONE_ROW_PX = 104;

export interface GridEvents {
  /** A person moved or resized a tile; others may have made way. */
  arranged(id: string, how: "moved" | "resized", places: ReadonlyMap<string, Geometry>): void;
  /** A tile was dropped onto the tab of another page. */
  droppedOn(id: string, pageId: string): void;
  /** A module's widget was dragged in from outside; others may have made way. */
  draggedIn(moduleId: string, place: Geometry, others: ReadonlyMap<string, Geometry>): void;
  chosen(id: string): void;
  nameOf(id: string): string;
}

interface Item {
  readonly element: GridItemHTMLElement;
  readonly grip: HTMLButtonElement;
  readonly tile: Tile;
}

/** One page under the hands of a person: gridstack over live tiles that take no taps meanwhile. */
export class GridView {
  readonly element = document.createElement("div");
  readonly #parts: TileParts;
  readonly #events: GridEvents;
  readonly #items = new Map<string, Item>();
  #grid: GridStack | undefined;
  #shown: Shown | undefined;

  constructor(parts: TileParts, events: GridEvents) {
    this.#parts = parts;
    this.#events = events;
    this.element.className = "canvas";
  }

  show(shown: Shown, sizes: ReadonlyMap<string, WidgetSize>): void {
    const before = this.#shown;
    this.#shown = shown;
    const places = placesOf(shown);
    const isSameGrid =
      before?.page.id === shown.page.id &&
      before.breakpoint === shown.breakpoint &&
      JSON.stringify(before.grid) === JSON.stringify(shown.grid);
    if (!isSameGrid) this.#open(shown);
    const isChanged = this.#setItems(shown.page);
    if (isChanged || !isSameGrid || !this.#stands(places)) this.#place(places);
    this.#limit(shown, sizes);
    for (const [id, { grip }] of this.#items) grip.ariaLabel = this.#labelOf(id);
  }

  focus(id: string): void {
    this.#items.get(id)?.grip.focus();
  }

  /** Marks the tile whose settings are open. */
  mark(id: string | undefined): void {
    for (const [each, { grip }] of this.#items) grip.ariaExpanded = `${each === id}`;
  }

  /**
   * Moves or resizes a tile by some cells; the others make way. Returns false at an edge.
   */
  shift(id: string, by: Partial<Geometry>): boolean {
    const item = this.#items.get(id);
    const now = this.#places().get(id);
    const grid = this.#grid;
    if (!item || !now || !grid) return false;
    grid.update(item.element, shifted(now, by));
    const places = this.#places();
    if (JSON.stringify(places.get(id)) === JSON.stringify(now)) return false;
    this.#events.arranged(id, by.w || by.h ? "resized" : "moved", places);
    return true;
  }

  close(): void {
    for (const { tile } of this.#items.values()) tile.close();
    this.#items.clear();
    this.#grid?.destroy(true);
    this.element.remove();
  }

  #open({ grid, breakpoint }: Shown): void {
    for (const id of this.#items.keys()) this.#drop(id);
    this.#grid?.destroy(true);
    const element = document.createElement("div");
    element.className = "grid-stack";
    this.element.dataset.breakpoint = breakpoint;
    this.element.replaceChildren(element);
    const end = document.dir === "rtl" ? "w" : "e";
    const made = GridStack.init(
      {
        column: grid.columns,
        cellHeight: breakpoint === "sm" ? PHONE_ROW_PX : grid.rowHeight + grid.gap,
        margin: grid.gap / 2,
        rtl: end === "w",
        mode: breakpoint === "lg" ? "float" : "top",
        animate: !matchMedia("(prefers-reduced-motion: reduce)").matches,
        alwaysShowResizeHandle: true,
        acceptWidgets: DRAGGED_IN,
        draggable: { handle: ".grip" },
        resizable: { handles: breakpoint === "lg" ? `s${end}` : end },
      },
      element,
    );
    if (!made) return;
    made.on("drag", (event) => showTarget(targetAt(event)));
    made.on("dragstop", (event, element_) => this.#dropped(idOf(element_), targetAt(event)));
    made.on("resizestop", (_event, element_) => this.#changed(idOf(element_), "resized"));
    made.on("dropped", (_event, _before, node) => this.#takeIn(node));
    this.#grid = made;
  }

  /** The document says what becomes of it; what gridstack has made of it makes way for that. */
  #takeIn({ el, id = "", x = 0, y = 0, w = 1, h = 1 }: GridStackNode): void {
    queueMicrotask(() => {
      const others = this.#places();
      if (el) this.#grid?.removeWidget(el, true, false);
      this.#events.draggedIn(id, { x, y, w, h }, others);
    });
  }

  #dropped(id: string, target: HTMLElement | undefined): void {
    showTarget(undefined);
    const pageId = target?.dataset.page;
    if (pageId !== undefined && pageId !== this.#shown?.page.id) {
      queueMicrotask(() => this.#events.droppedOn(id, pageId));
    } else this.#changed(id, "moved");
  }

  /** Gridstack is still at work while it tells; what it has done is read right after. */
  #changed(id: string, how: "moved" | "resized"): void {
    queueMicrotask(() => this.#events.arranged(id, how, this.#places()));
  }

  #places(): Map<string, Geometry> {
    const nodes = this.#grid?.engine.nodes ?? [];
    const places = nodes.map(
      ({ el, x = 0, y = 0, w = 1, h = 1 }) => [idOf(el), { x, y, w, h }] as const,
    );
    return new Map(places.filter(([id]) => this.#items.has(id)));
  }

  #stands(wanted: ReadonlyMap<string, Geometry>): boolean {
    const places = this.#places();
    return [...wanted].every(
      ([id, place]) => JSON.stringify(places.get(id)) === JSON.stringify(place),
    );
  }

  /** From an empty grid: moved one by one, tiles would push those that stand right already. */
  #place(places: ReadonlyMap<string, Geometry>): void {
    const grid = this.#grid;
    if (!grid) return;
    const focused = [...this.#items.values()].find(({ grip }) => grip === document.activeElement);
    grid.batchUpdate();
    grid.removeAll(false, false);
    for (const [id, place] of places) {
      const item = this.#items.get(id);
      if (!item) continue;
      grid.el.append(item.element);
      grid.makeWidget(item.element, { id, ...place });
      item.tile.resize(place, this.#shown?.breakpoint === "lg" ? undefined : 0);
    }
    grid.batchUpdate(false);
    focused?.grip.focus();
  }

  #limit({ grid: { columns }, breakpoint }: Shown, sizes: ReadonlyMap<string, WidgetSize>): void {
    const places = this.#places();
    for (const [id, { element, tile }] of this.#items) {
      const place = places.get(id);
      if (!place) continue;
      const size = sizes.get(tile.moduleId);
      Object.assign(element.gridstackNode ?? {}, limitsFor(place, size, { breakpoint, columns }));
      const beyond = misfit(place, size, { breakpoint, columns });
      element.classList.toggle("misfit", beyond !== undefined);
    }
  }

  /** Returns whether there are other tiles than before. */
  #setItems({ widgets }: LayoutPage): boolean {
    const wanted = new Map(widgets.map((widget) => [widget.id, widget]));
    let isChanged = false;
    for (const [id, { tile }] of this.#items) {
      if (wanted.get(id)?.module === tile.moduleId) continue;
      this.#drop(id);
      isChanged = true;
    }
    for (const [id, widget] of wanted) {
      const item = this.#items.get(id);
      if (item) item.tile.config = widget.config;
      else this.#add(widget);
      isChanged ||= !item;
    }
    return isChanged;
  }

  #add(widget: LayoutPage["widgets"][number]): void {
    const { id } = widget;
    const element: GridItemHTMLElement = document.createElement("div");
    const content = document.createElement("div");
    const tile = new Tile(widget, this.#parts);
    const grip = document.createElement("button");
    element.className = "grid-stack-item";
    element.dataset.tile = id;
    content.className = "grid-stack-item-content";
    tile.element.inert = true;
    grip.className = "grip";
    grip.type = "button";
    grip.setAttribute("aria-describedby", "editor-help");
    grip.addEventListener("click", () => this.#events.chosen(id));
    content.append(tile.element, grip);
    element.append(content);
    this.#items.set(id, { element, grip, tile });
  }

  #drop(id: string): void {
    const item = this.#items.get(id);
    if (!item) return;
    item.tile.close();
    this.#grid?.removeWidget(item.element, true, false);
    item.element.remove();
    this.#items.delete(id);
  }

  #labelOf(id: string): string {
    const place = this.#places().get(id);
    const name = this.#events.nameOf(id);
    const said = place ? words.value.tile(name, words.value.place(place)) : name;
    return this.#items.get(id)?.element.classList.contains("misfit")
      ? words.value.tile(said, words.value.misfit)
      : said;
  }
}

function idOf(element: HTMLElement | undefined): string {
  return element?.dataset.tile ?? "";
}
