// A page without a browser: importing this gives the process the globals of a page that Node lacks, from happy-dom,
// until it ends. lit and the dashboard look for them when they load, so import them behind this with `await import()`.
// It draws nothing: each element has the size 0. Files that import this share a process with each other only.

import { Window } from "happy-dom";

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
Object.assign(globalThis, { window: globalThis, Event: page.Event, CustomEvent: page.CustomEvent });
// Set when the dashboard is built.
Object.assign(globalThis, { ICONS_URL: "/icons/" });
