import type uPlot from "uplot";

const KEY = Symbol.for("mantel/uplot@1.6.32");
type Kept = typeof globalThis & { [KEY]?: Promise<typeof uPlot> };

/**
 * uPlot, once for the page. Its code listens to the window from the moment it runs and for ever, and
 * the code of a widget runs at each mount and each swap: without this, each would add four listeners.
 */
export function loadUplot(): Promise<typeof uPlot> {
  const page: Kept = globalThis;
  page[KEY] ??= import("uplot").then((library) => library.default);
  return page[KEY];
}
