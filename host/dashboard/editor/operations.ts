import type { Breakpoint, Geometry } from "../layout.ts";
import {
  bottomOf,
  findPage,
  findWidget,
  firstFree,
  freeId,
  isOverridden,
  type LayoutDocument,
  type LayoutPage,
  type LayoutWidget,
  type Override,
} from "./document.ts";

// Every operation gives a new document and leaves the one it was given as it was; what it does not
// touch is shared. One that names something that is not there gives the same document.

const OVERRIDES: readonly Override[] = ["md", "sm"];

export interface NewWidget {
  readonly module: string;
  readonly config: LayoutWidget["config"];
  /** Cells, columns by rows. */
  readonly size: readonly [number, number];
}

export interface Drop {
  readonly widget: NewWidget;
  readonly place: Geometry;
  readonly others: ReadonlyMap<string, Geometry>;
}

/** Puts a widget into the first gap of a page; where the page is arranged by hand, at its end. */
export function addWidget(
  document: LayoutDocument,
  pageId: string,
  { module, config, size: [w, h] }: NewWidget,
): { readonly document: LayoutDocument; readonly id: string } {
  const taken = document.pages.flatMap(({ widgets }) => widgets.map((widget) => widget.id));
  const id = freeId(module.replace(/-widget$/, ""), taken);
  const widget = { id, module, config, geometry: { lg: { x: 0, y: 0, w, h } } };
  return {
    id,
    document: onPage(document, pageId, (page) => received(page, widget, document.grid.columns)),
  };
}

/** Puts a widget onto a place of a page, as it is arranged for one screen; `others` have made way. */
export function dropWidget(
  document: LayoutDocument,
  at: { readonly pageId: string; readonly breakpoint: Breakpoint },
  { widget, place, others }: Drop,
): { readonly document: LayoutDocument; readonly id: string } {
  const { document: added, id } = addWidget(document, at.pageId, widget);
  return { id, document: arrangePage(added, at, new Map([...others, [id, place]])) };
}

/** Moves a widget to another page with its size and settings. */
export function moveToPage(document: LayoutDocument, id: string, pageId: string): LayoutDocument {
  const widget = findWidget(document, id);
  const target = findPage(document, pageId);
  if (!widget || !target || target.widgets.includes(widget)) return document;
  return onPage(removeWidget(document, id), pageId, (page) =>
    received(page, widget, document.grid.columns),
  );
}

function received(page: LayoutPage, widget: LayoutWidget, columns: number): LayoutPage {
  const at = (breakpoint: Breakpoint): Geometry[] =>
    page.widgets.flatMap(({ geometry }) => geometry[breakpoint] ?? []);
  const { w, h } = widget.geometry.lg;
  const overrides = OVERRIDES.filter((breakpoint) => isOverridden(page, breakpoint)).map(
    (breakpoint) => {
      const y = bottomOf(at(breakpoint));
      return [breakpoint, { x: 0, y, w: columns, h: breakpoint === "sm" ? 1 : h }] as const;
    },
  );
  const lg = firstFree(at("lg"), { w, h }, columns);
  const geometry = { lg, ...Object.fromEntries(overrides) };
  return { ...page, widgets: [...page.widgets, { ...widget, geometry }] };
}

export function removeWidget(document: LayoutDocument, id: string): LayoutDocument {
  if (!findWidget(document, id)) return document;
  return onEveryPage(document, (page) => {
    const widgets = page.widgets.filter((widget) => widget.id !== id);
    return widgets.length === page.widgets.length ? page : { ...page, widgets };
  });
}

export function configure(
  document: LayoutDocument,
  id: string,
  config: LayoutWidget["config"],
): LayoutDocument {
  return onEveryPage(document, (page) => ({
    ...page,
    widgets: page.widgets.map((widget) => (widget.id === id ? { ...widget, config } : widget)),
  }));
}

/**
 * Sets where the widgets of a page are at one breakpoint. `places` names all of them, so that a page
 * is either arranged by hand for a screen or derived, and never half of each.
 */
export function arrangePage(
  document: LayoutDocument,
  { pageId, breakpoint }: { readonly pageId: string; readonly breakpoint: Breakpoint },
  places: ReadonlyMap<string, Geometry>,
): LayoutDocument {
  return onPage(document, pageId, (page) => ({
    ...page,
    widgets: page.widgets.map((widget) => {
      const place = places.get(widget.id);
      return place ? { ...widget, geometry: { ...widget.geometry, [breakpoint]: place } } : widget;
    }),
  }));
}

/** Lets a page's arrangement for a screen follow the wall's again. */
export function derivePage(
  document: LayoutDocument,
  pageId: string,
  breakpoint: Override,
): LayoutDocument {
  return onPage(document, pageId, (page) => ({
    ...page,
    widgets: page.widgets.map((widget) => {
      const { [breakpoint]: _dropped, ...geometry } = widget.geometry;
      return { ...widget, geometry };
    }),
  }));
}

/** Adds an empty page after the last. */
export function addPage(
  document: LayoutDocument,
  title: string,
): { readonly document: LayoutDocument; readonly id: string } {
  const wanted = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const id = freeId(
    wanted === "" ? "page" : wanted,
    document.pages.map((page) => page.id),
  );
  return { id, document: { ...document, pages: [...document.pages, { id, title, widgets: [] }] } };
}

/** Changes a page's title or icon; an empty icon is none. */
export function changePage(
  document: LayoutDocument,
  pageId: string,
  change: { readonly title?: string; readonly icon?: string },
): LayoutDocument {
  return onPage(document, pageId, (page) => {
    const { icon, ...rest } = { ...page, ...change };
    return icon === undefined || icon === "" ? rest : { ...rest, icon };
  });
}

/** Moves a page's tab by some places; it stops at either end. */
export function movePage(document: LayoutDocument, pageId: string, by: number): LayoutDocument {
  const from = document.pages.findIndex(({ id }) => id === pageId);
  const to = Math.max(0, Math.min(document.pages.length - 1, from + by));
  const page = document.pages[from];
  if (!page || to === from) return document;
  return { ...document, pages: document.pages.toSpliced(from, 1).toSpliced(to, 0, page) };
}

/** Removes a page with its widgets, and from the displays that show it. */
export function removePage(document: LayoutDocument, pageId: string): LayoutDocument {
  return withKnownPages({
    ...document,
    pages: document.pages.filter(({ id }) => id !== pageId),
  });
}

/** A display may show only pages that there are. */
export function withKnownPages(document: LayoutDocument): LayoutDocument {
  const known = new Set(document.pages.map(({ id }) => id));
  const displays = document.displays.map((display) =>
    display.pages.every((page) => known.has(page))
      ? display
      : { ...display, pages: display.pages.filter((page) => known.has(page)) },
  );
  return { ...document, displays };
}

function onPage(
  document: LayoutDocument,
  pageId: string,
  change: (page: LayoutPage) => LayoutPage,
): LayoutDocument {
  return onEveryPage(document, (page) => (page.id === pageId ? change(page) : page));
}

function onEveryPage(
  document: LayoutDocument,
  change: (page: LayoutPage) => LayoutPage,
): LayoutDocument {
  return { ...document, pages: document.pages.map(change) };
}
