import assert from "node:assert/strict";
import { test } from "node:test";
import { findWidget, isOverridden } from "../../../../host/dashboard/editor/document.ts";
import {
  addPage,
  addWidget,
  arrangePage,
  changePage,
  configure,
  derivePage,
  movePage,
  moveToPage,
  removePage,
  removeWidget,
} from "../../../../host/dashboard/editor/operations.ts";
import { parseLayout } from "../../../../host/layout/parse.ts";
import { layout, page, widget } from "./layouts.ts";

const wall = layout(
  page("home", widget("clock", [0, 0, 4, 8]), widget("room", [4, 0, 8, 5])),
  page("lights"),
);
const byHand = arrangePage(
  wall,
  { pageId: "home", breakpoint: "sm" },
  new Map([
    ["clock", { x: 0, y: 1, w: 12, h: 1 }],
    ["room", { x: 0, y: 0, w: 12, h: 1 }],
  ]),
);

test("a new widget takes the first gap it fits into, under an id of its own", () => {
  const { document, id } = addWidget(wall, "home", {
    module: "clock-widget",
    config: { seconds: true },
    size: [6, 3],
  });

  assert.equal(id, "clock-2");
  assert.deepEqual(findWidget(document, id), {
    id: "clock-2",
    module: "clock-widget",
    config: { seconds: true },
    geometry: { lg: { x: 4, y: 5, w: 6, h: 3 } },
  });
  assert.equal(findWidget(wall, id), undefined, "the document before is as it was");
});

test("a widget that is wider than the grid gets its full width", () => {
  const { document, id } = addWidget(wall, "lights", { module: "x", config: {}, size: [40, 2] });

  assert.equal(findWidget(document, id)?.geometry.lg.w, 12);
});

test("on a page arranged for phones by hand, a new widget is added at the end", () => {
  const { document, id } = addWidget(byHand, "home", { module: "note", config: {}, size: [2, 2] });

  assert.deepEqual(findWidget(document, id)?.geometry.sm, { x: 0, y: 2, w: 12, h: 1 });
  assert.equal(findWidget(document, id)?.geometry.md, undefined);
});

test("a widget moves to another page with its size and settings, and without arrangements that page lacks", () => {
  const moved = moveToPage(byHand, "clock", "lights");

  assert.deepEqual(moved.pages[1]?.widgets, [widget("clock", [0, 0, 4, 8])]);
  assert.deepEqual(
    moved.pages[0]?.widgets.map(({ id }) => id),
    ["room"],
  );
});

test("the arrangement for a screen size can be reset to follow the wall again", () => {
  const [home] = byHand.pages;
  assert(home);
  assert.equal(isOverridden(home, "sm"), true);

  const derived = derivePage(byHand, "home", "sm");

  assert.deepEqual(derived, wall);
});

test("a page is added under an id that is free, renamed, moved, and removed from its displays", () => {
  const shown = {
    ...wall,
    displays: [{ id: "hall", name: "Hall", pages: ["lights", "home"] }],
  };
  const { document: added, id } = addPage(shown, "Home");
  assert.equal(id, "home-2");

  const changed = changePage(added, id, { title: "Garden", icon: "mdi:tree" });
  const moved = movePage(changed, id, -5);
  const removed = removePage(moved, "lights");

  assert.deepEqual(
    removed.pages.map((each) => [each.id, each.title]),
    [
      ["home-2", "Garden"],
      ["home", "HOME"],
    ],
  );
  assert.deepEqual(removed.displays[0]?.pages, ["home"]);
  assert.equal(changePage(removed, id, { icon: "" }).pages[0]?.icon, undefined);
});

test("a page whose title has no Latin letters still gets an id", () => {
  assert.equal(addPage(wall, "🏡 مرحبا").id, "page");
});

test("a reference to something unknown changes nothing", () => {
  assert.equal(removeWidget(wall, "gone"), wall);
  assert.equal(moveToPage(wall, "gone", "home"), wall);
  assert.equal(moveToPage(wall, "clock", "gone"), wall);
  assert.equal(moveToPage(wall, "clock", "home"), wall);
  assert.equal(movePage(wall, "gone", 1), wall);
  assert.deepEqual(configure(wall, "gone", { a: 1 }), wall);
});

test("the host accepts the result of every operation", () => {
  let document = addWidget(byHand, "home", { module: "a", config: {}, size: [12, 9] }).document;
  document = addPage(document, "x".repeat(150)).document;
  document = moveToPage(document, "a", document.pages.at(-1)?.id ?? "");
  document = configure(document, "clock", { text: "<b>‮😀" });

  assert.deepEqual(parseLayout(document), document);
});
