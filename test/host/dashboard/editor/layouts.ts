import type { LayoutDocument, LayoutWidget } from "../../../../host/dashboard/editor/document.ts";

type Page = LayoutDocument["pages"][number];

export function layout(...pages: readonly Page[]): LayoutDocument {
  return {
    version: 1,
    revision: 1,
    grid: { columns: 12, rowHeight: 20, gap: 12 },
    pages: [...pages],
    displays: [],
  };
}

export function page(id: string, ...widgets: readonly LayoutWidget[]): Page {
  return { id, title: id.toUpperCase(), widgets: [...widgets] };
}

/** A widget at `[x, y, w, h]`. */
export function widget(
  id: string,
  [x, y, w, h]: readonly [number, number, number, number],
  more: Partial<LayoutWidget> = {},
): LayoutWidget {
  return { id, module: `${id}-widget`, config: {}, geometry: { lg: { x, y, w, h } }, ...more };
}
