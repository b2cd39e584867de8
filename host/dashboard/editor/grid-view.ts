import { effect, untracked } from "@preact/signals-core";
import { GridStack, type GridItemHTMLElement, type GridStackNode } from "gridstack";
import type { Geometry } from "../layout.ts";
import { Scope } from "../scope.ts";
import { Tile, type TileDependencies } from "../tile.ts";
import type { Definitions } from "./definitions.ts";
import type { LayoutPage, LayoutWidget } from "./document.ts";
import type { EditorStore } from "./editor-store.ts";
import { DRAGGABLE_CARD } from "./gallery.ts";
import { placesOf, shiftedPlace, type Shown } from "./grid-geometry.ts";
import { limitsFor, sizeMisfit, type WidgetSize } from "./limits.ts";
import { highlightPageTab, pageTabAt } from "./toolbar.ts";
import { placeText, words } from "./words.ts";

/**
 * Row height on a phone, in CSS pixels. Each tile takes one row here; its real height follows its
 * content.
 */
const PHONE_ROW_PX = 104;

interface Item {
  readonly element: GridItemHTMLElement;
  readonly grip: HTMLButtonElement;
  readonly tile: Tile;
}

/** The page in edit mode: gridstack over live tiles that do not react to taps. */
export class GridView {
  readonly element = document.createElement("div");
  /** The text for a page without tiles. */
  readonly empty = document.createElement("p");
  readonly #store: EditorStore;
  readonly #tiles: TileDependencies;
  readonly #definitions: Definitions;
  readonly #items = new Map<string, Item>();
  readonly #scope = new Scope();
  #grid: GridStack | undefined;
  #shown: Shown | undefined;

  constructor(store: EditorStore, tiles: TileDependencies, definitions: Definitions) {
    this.#store = store;
    this.#tiles = tiles;
    this.#definitions = definitions;
    this.element.className = "canvas";
    this.empty.className = "empty";
  }

  /** Draws the page, now and after each change, until `close`. Needs its element in the document. */
  start(): void {
    const { document: draft, page, breakpoint, panel } = this.#store;
    const { store: dashboard } = this.#tiles;
    this.#scope.onEnd(
      effect(() => {
        const shown = page.value;
        const { grid } = draft.value;
        const at = breakpoint.value;
        const sizes = this.#definitions.sizes.value;
        this.empty.hidden = !shown || shown.widgets.length > 0;
        this.empty.textContent = words.value.emptyPage;
        if (shown) untracked(() => this.#show({ page: shown, grid, breakpoint: at }, sizes));
      }),
    );
    this.#scope.onEnd(
      effect(() => {
        const modules = page.value?.widgets.map(({ module }) => module) ?? [];
        if (dashboard.modules().value.length > 0) void this.#definitions.readSizes(modules);
      }),
    );
    this.#scope.onEnd(
      effect(() => {
        const selected = panel.value?.kind === "tile" ? panel.value.id : undefined;
        for (const [id, { grip }] of this.#items) grip.ariaExpanded = `${id === selected}`;
      }),
    );
  }

  focus(id: string): void {
    this.#items.get(id)?.grip.focus();
  }

  /** Moves or resizes a tile by some cells; other tiles make way. At an edge, says why not. */
  shift(id: string, by: Partial<Geometry>): void {
    const item = this.#items.get(id);
    const now = this.#places().get(id);
    if (item && now) this.#grid?.update(item.element, shiftedPlace(now, by));
    const places = this.#places();
    const isResized = by.w || by.h;
    if (JSON.stringify(places.get(id)) !== JSON.stringify(now)) {
      this.#store.arrange(id, isResized ? "resized" : "moved", places);
      return;
    }
    const { value: texts } = words;
    const isSmaller = (by.w ?? 0) + (by.h ?? 0) < 0;
    const why = isResized
      ? isSmaller
        ? texts.cannotBeSmaller
        : texts.cannotBeLarger
      : texts.cannotMoveFurther;
    this.#store.announce(why(this.#store.nameOfId(id)));
  }

  close(): void {
    this.#scope.end();
    for (const { tile } of this.#items.values()) tile.close();
    this.#items.clear();
    this.#grid?.destroy(true);
    this.element.remove();
  }

  #show(shown: Shown, sizes: ReadonlyMap<string, WidgetSize>): void {
    const previous = this.#shown;
    this.#shown = shown;
    const places = placesOf(shown);
    const isSameGrid =
      previous?.page.id === shown.page.id &&
      previous.breakpoint === shown.breakpoint &&
      JSON.stringify(previous.grid) === JSON.stringify(shown.grid);
    if (!isSameGrid) this.#open(shown);
    const isChanged = this.#setItems(shown.page);
    if (isChanged || !isSameGrid || !this.#hasPlaces(places)) this.#place(places);
    this.#limit(shown, sizes);
    for (const [id, { grip }] of this.#items) grip.ariaLabel = this.#labelOf(id);
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
        acceptWidgets: DRAGGABLE_CARD,
        draggable: { handle: ".grip" },
        resizable: { handles: breakpoint === "lg" ? `s${end}` : end },
      },
      element,
    );
    if (!made) return;
    made.on("drag", (event) => highlightPageTab(pageTabAt(event)));
    made.on("dragstop", (event, element_) => this.#dropped(idOf(element_), pageTabAt(event)));
    made.on("resizestop", (_event, element_) => this.#changed(idOf(element_), "resized"));
    made.on("dropped", (_event, _before, node) => this.#takeIn(node));
    this.#grid = made;
  }

  /** The document decides about the dropped widget, so gridstack's own node is removed. */
  #takeIn({ el, id = "", x = 0, y = 0, w = 1, h = 1 }: GridStackNode): void {
    queueMicrotask(() => {
      const others = this.#places();
      if (el) this.#grid?.removeWidget(el, true, false);
      const size = this.#definitions.sizes.peek().get(id)?.default ?? [w, h];
      const widget = { module: id, config: {}, size };
      this.#store.add(widget, { place: { x, y, w, h }, others });
    });
  }

  #dropped(id: string, target: HTMLElement | undefined): void {
    highlightPageTab(undefined);
    const pageId = target?.dataset.page;
    if (pageId !== undefined && pageId !== this.#shown?.page.id) {
      queueMicrotask(() => this.#store.moveToPage(id, pageId));
    } else this.#changed(id, "moved");
  }

  /** Gridstack is still working during its event, so its result is read right after it. */
  #changed(id: string, how: "moved" | "resized"): void {
    queueMicrotask(() => this.#store.arrange(id, how, this.#places()));
  }

  #places(): Map<string, Geometry> {
    const nodes = this.#grid?.engine.nodes ?? [];
    const places = nodes.map(
      ({ el, x = 0, y = 0, w = 1, h = 1 }) => [idOf(el), { x, y, w, h }] as const,
    );
    return new Map(places.filter(([id]) => this.#items.has(id)));
  }

  #hasPlaces(expected: ReadonlyMap<string, Geometry>): boolean {
    const places = this.#places();
    return [...expected].every(
      ([id, place]) => JSON.stringify(places.get(id)) === JSON.stringify(place),
    );
  }

  /**
   * Starts from an empty grid. Moved one by one, tiles would push those that are already in place.
   */
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
      const beyond = sizeMisfit(place, size, { breakpoint, columns });
      element.classList.toggle("misfit", beyond !== undefined);
    }
  }

  /** Returns true if the set of tiles has changed. */
  #setItems({ widgets }: LayoutPage): boolean {
    const widgetsById = new Map(widgets.map((widget) => [widget.id, widget]));
    let isChanged = false;
    for (const [id, { tile }] of this.#items) {
      if (widgetsById.get(id)?.module === tile.moduleId) continue;
      this.#drop(id);
      isChanged = true;
    }
    for (const [id, widget] of widgetsById) {
      const item = this.#items.get(id);
      if (item) item.tile.config = widget.config;
      else this.#add(widget);
      isChanged ||= !item;
    }
    return isChanged;
  }

  #add(widget: LayoutWidget): void {
    const { id } = widget;
    const element: GridItemHTMLElement = document.createElement("div");
    const content = document.createElement("div");
    const tile = new Tile(widget, this.#tiles);
    const grip = document.createElement("button");
    element.className = "grid-stack-item";
    element.dataset.tile = id;
    content.className = "grid-stack-item-content";
    tile.element.inert = true;
    grip.className = "grip";
    grip.type = "button";
    grip.setAttribute("aria-describedby", "editor-help");
    grip.addEventListener("click", () => {
      this.#store.panel.value = { kind: "tile", id };
    });
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
    const name = this.#store.nameOfId(id);
    const label = place ? words.value.tile(name, placeText(place)) : name;
    return this.#items.get(id)?.element.classList.contains("misfit")
      ? words.value.tile(label, words.value.notRecommendedSize)
      : label;
  }
}

function idOf(element: HTMLElement | undefined): string {
  return element?.dataset.tile ?? "";
}
