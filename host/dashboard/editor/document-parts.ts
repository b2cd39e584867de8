import {
  type LayoutDocument,
  type LayoutPage,
  type LayoutWidget,
  overlap,
  sameJson,
} from "./document.ts";
import { withKnownPages } from "./operations.ts";

/** The smallest mergeable parts of a document, by path, such as `widget/clock/config`. */
export type DocumentParts = ReadonlyMap<string, unknown>;

interface Home {
  readonly page: string;
  readonly lg: LayoutWidget["geometry"]["lg"];
}

/** Splits a document into parts, which are compared and merged separately. */
export function splitDocument(
  { name, grid, displays, pages }: LayoutDocument,
  ordered: ReadonlySet<string>,
): DocumentParts {
  const parts = new Map<string, unknown>([
    ["name", name],
    ["grid", grid],
    ["displays", displays],
    ["order", pages.map(({ id }) => id).filter((id) => ordered.has(id))],
  ]);
  for (const { id: page, title, icon, widgets } of pages) {
    parts.set(`page/${page}/face`, { title, icon });
    for (const { id, module, type, config, geometry } of widgets) {
      parts.set(`widget/${id}/home`, { page, lg: geometry.lg } satisfies Home);
      parts.set(`widget/${id}/what`, { module, type });
      parts.set(`widget/${id}/config`, config);
      if (geometry.md) parts.set(`widget/${id}/md`, geometry.md);
      if (geometry.sm) parts.set(`widget/${id}/sm`, geometry.sm);
    }
  }
  return parts;
}

interface Sides {
  readonly mine: LayoutDocument;
  readonly theirs: LayoutDocument;
}

/**
 * Builds a document from parts. Data that is not in parts, such as the order of new pages, comes
 * from `sides`.
 */
export function joinParts(parts: DocumentParts, { mine, theirs }: Sides): LayoutDocument {
  const { name: _name, ...rest } = theirs;
  const name = parts.get("name") as string | undefined;
  const widgets = widgetsOf(parts, [mine, theirs]);
  const pages = pageOrder(parts, [mine, theirs]).flatMap((id): LayoutPage[] => {
    const here = widgets.filter(({ page }) => page === id).map(({ widget }) => widget);
    const face =
      titleAndIconOf(id, parts) ?? (here.length > 0 ? faceIn(id, [mine, theirs]) : undefined);
    return face ? [{ id, ...face, widgets: withoutOverlaps(here) }] : [];
  });
  return withKnownPages({
    ...rest,
    ...(name === undefined ? {} : { name }),
    grid: parts.get("grid") as LayoutDocument["grid"],
    displays: parts.get("displays") as LayoutDocument["displays"],
    pages,
  });
}

function widgetsOf(
  parts: DocumentParts,
  documents: readonly LayoutDocument[],
): { page: string; widget: LayoutWidget }[] {
  const all = documents.flatMap(({ pages }) => pages.flatMap((page) => page.widgets));
  const ids = new Set(all.map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const home = parts.get(`widget/${id}/home`) as Home | undefined;
    const what = parts.get(`widget/${id}/what`) as Pick<LayoutWidget, "module" | "type">;
    if (!home) return [];
    const config = parts.get(`widget/${id}/config`) as LayoutWidget["config"];
    const [md, sm] = ["md", "sm"].map((at) => parts.get(`widget/${id}/${at}`) as Home["lg"]);
    const geometry = { lg: home.lg, ...(md ? { md } : {}), ...(sm ? { sm } : {}) };
    const { module, type } = what;
    const kind = type === undefined ? { module } : { module, type };
    return [{ page: home.page, widget: { id, ...kind, config, geometry } }];
  });
}

type TitleAndIcon = Pick<LayoutPage, "title" | "icon">;

function titleAndIconOf(id: string, parts: DocumentParts): TitleAndIcon | undefined {
  const face = parts.get(`page/${id}/face`) as { title: string; icon?: string | undefined };
  if (face === undefined) return undefined;
  const { title, icon } = face;
  return icon === undefined ? { title } : { title, icon };
}

/** Title and icon of a page that one side removed and the other side still uses. */
function faceIn(id: string, documents: readonly LayoutDocument[]): TitleAndIcon | undefined {
  const page = documents.flatMap(({ pages }) => pages).find((each) => each.id === id);
  if (!page) return undefined;
  return page.icon === undefined ? { title: page.title } : { title: page.title, icon: page.icon };
}

/**
 * The merged order of the common pages. Each other page follows the page that it followed before.
 */
function pageOrder(parts: DocumentParts, documents: readonly LayoutDocument[]): string[] {
  const order = [...(parts.get("order") as string[])];
  for (const { pages } of documents) {
    for (const [index, { id }] of pages.entries()) {
      if (order.includes(id)) continue;
      order.splice(order.indexOf(pages[index - 1]?.id ?? "") + 1, 0, id);
    }
  }
  return order;
}

/** Resolves overlaps of widgets from both sides: the later one moves below. */
function withoutOverlaps(widgets: readonly LayoutWidget[]): LayoutWidget[] {
  const clear = (at: "lg" | "md" | "sm", all: readonly LayoutWidget[]): LayoutWidget[] => {
    const placed: LayoutWidget["geometry"]["lg"][] = [];
    return all.map((widget) => {
      let place = widget.geometry[at];
      if (!place) return widget;
      for (let hit; (hit = firstHit(placed, place));) place = { ...place, y: hit.y + hit.h };
      placed.push(place);
      if (sameJson(place, widget.geometry[at])) return widget;
      return { ...widget, geometry: { ...widget.geometry, [at]: place } };
    });
  };
  return clear("sm", clear("md", clear("lg", widgets)));
}

function firstHit(
  placed: readonly LayoutWidget["geometry"]["lg"][],
  place: LayoutWidget["geometry"]["lg"],
): LayoutWidget["geometry"]["lg"] | undefined {
  return placed.find((each) => overlap(each, place));
}
