import assert from "node:assert/strict";
import { test } from "node:test";
import { displayOf, settingsOn, layoutOn } from "../../../../host/dashboard/display/choice.ts";
import type { Display, Layout } from "../../../../host/dashboard/layout.ts";

const KITCHEN: Display = { id: "kitchen", name: "Küche", pages: ["lights", "home"] };
const HALL: Display = { id: "hall", name: "Hall", pages: [], theme: "light", night: null };
const LAYOUT: Layout = {
  revision: 1,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: ["home", "lights", "climate"].map((id) => ({ id, title: id, widgets: [] })),
  displays: [KITCHEN, HALL],
};

test("a screen shows the display it was paired as, unless its address names another one", () => {
  const which = (displayInAddress: string | null, name?: string) =>
    displayOf(LAYOUT, { displayInAddress, name })?.id;

  assert.equal(which(null, "Küche"), "kitchen");
  assert.equal(which(null, "hall"), "hall");
  assert.equal(which("hall", "Küche"), "hall");
  assert.equal(which("attic", "Küche"), "kitchen");
  assert.equal(which(null, "laptop"), undefined);
  assert.equal(which(null), undefined);
});

test("a display shows its pages in its order, and all pages if it names none", () => {
  const shown = (display: Display | undefined) =>
    layoutOn(display, LAYOUT).pages.map(({ id }) => id);

  assert.deepEqual(shown(KITCHEN), ["lights", "home"]);
  assert.deepEqual(shown({ ...KITCHEN, pages: ["gone", "climate"] }), ["climate"]);
  assert.deepEqual(shown(HALL), ["home", "lights", "climate"]);
  assert.equal(layoutOn(undefined, LAYOUT), LAYOUT);
});

test("a display's theme and night settings override the home's", () => {
  const home = { theme: "dark", night: { from: "22:00", to: "06:00" }, locale: "de" } as const;

  assert.deepEqual(settingsOn(HALL, home), { ...home, theme: "light", night: null });
  assert.deepEqual(settingsOn(KITCHEN, home), home);
});
