import type uPlot from "uplot";

const KEY = Symbol.for("mantel/uplot@1.6.32");
type PageGlobals = typeof globalThis & { [KEY]?: Promise<typeof uPlot> };

/**
 * Loads uPlot once per page. Its code adds listeners to the window when it runs and never removes
 * them, and the code of a widget runs at each mount and swap: each run would add four listeners.
 */
export function loadUplot(): Promise<typeof uPlot> {
  const page: PageGlobals = globalThis;
  page[KEY] ??= import("uplot").then((library) => library.default);
  return page[KEY];
}
