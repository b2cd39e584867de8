// Importing this gives the process the globals of a page that Node lacks, from happy-dom, until it ends. lit looks for
// them when it loads, so a test imports this before its widget. It draws nothing: each element has the size 0.

import { Window } from "happy-dom";

if (!("document" in globalThis)) {
  const page = new Window({
    url: "http://mantel.test/",
    settings: { device: { prefersReducedMotion: "reduce" } },
  });
  for (const name of Object.getOwnPropertyNames(page)) {
    if (name in globalThis) continue;
    const value: unknown = page[name as keyof Window];
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  }
  // The page accepts events of its own class only.
  const { Event, CustomEvent } = page;
  Object.assign(globalThis, { window: globalThis, Event, CustomEvent });
}
