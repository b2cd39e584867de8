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

// Operations never modify their input. They return a new document that shares unchanged parts. An
// operation on an unknown id returns the same document.

const OVERRIDES: readonly Override[] = ["md", "sm"];

export interface NewWidget {
  readonly module: string;
  readonly config: LayoutWidget["config"];
  /** Columns and rows. */
  readonly size: readonly [number, number];
}

/** Adds a widget in the first gap of a page. On manually arranged screens, adds it at the end. */
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

/** Moves a widget to another page and keeps its size and settings. */
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
 * Sets the places of the widgets of a page at one breakpoint. `places` must contain all widgets: a
 * page is either fully arranged for a screen or derived.
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

/** Derives a page's arrangement for a screen from the wall's again. */
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
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const id = freeId(
    slug === "" ? "page" : slug,
    document.pages.map((page) => page.id),
  );
  return { id, document: { ...document, pages: [...document.pages, { id, title, widgets: [] }] } };
}

/** Changes a page's title or icon. An empty string removes the icon. */
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

/** Moves a page's tab by some places, up to either end. */
export function movePage(document: LayoutDocument, pageId: string, by: number): LayoutDocument {
  const from = document.pages.findIndex(({ id }) => id === pageId);
  const to = Math.max(0, Math.min(document.pages.length - 1, from + by));
  const page = document.pages[from];
  if (!page || to === from) return document;
  return { ...document, pages: document.pages.toSpliced(from, 1).toSpliced(to, 0, page) };
}

/** Removes a page with its widgets, also from the displays that show it. */
export function removePage(document: LayoutDocument, pageId: string): LayoutDocument {
  return withKnownPages({
    ...document,
    pages: document.pages.filter(({ id }) => id !== pageId),
  });
}

/** Removes unknown pages from displays. */
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
