import assert from "node:assert/strict";
import { test } from "node:test";
import { placesOf, shiftedPlace } from "../../../../host/dashboard/editor/grid-geometry.ts";
import { arrangePage } from "../../../../host/dashboard/editor/operations.ts";
import { layout, page, widget } from "./layouts.ts";

const wall = layout(page("home", widget("clock", [0, 0, 4, 8]), widget("room", [4, 2, 8, 5])));
const { grid } = wall;
const [home] = wall.pages;
assert(home);

test("the wall is shown as stored, including gaps", () => {
  const places = placesOf({ page: home, grid, breakpoint: "lg" });

  assert.deepEqual(places.get("room"), { x: 4, y: 2, w: 8, h: 5 });
});

test("the phone preview shows the derived layout from its first row", () => {
  const places = placesOf({ page: home, grid, breakpoint: "sm" });

  assert.deepEqual(Object.fromEntries(places), {
    clock: { x: 0, y: 0, w: 12, h: 1 },
    room: { x: 0, y: 1, w: 12, h: 1 },
  });
});

test("a manual arrangement is shown unchanged, however often it is read", () => {
  const places = new Map([
    ["room", { x: 0, y: 0, w: 12, h: 1 }],
    ["clock", { x: 0, y: 1, w: 6, h: 1 }],
  ]);
  const [byHand] = arrangePage(wall, { pageId: "home", breakpoint: "sm" }, places).pages;
  assert(byHand);

  const shown = placesOf({ page: byHand, grid, breakpoint: "sm" });

  assert.deepEqual(shown, places);
});

test("a tile is never moved off the grid, nor made smaller than a cell", () => {
  assert.deepEqual(shiftedPlace({ x: 0, y: 0, w: 1, h: 1 }, { x: -1, y: -1, w: -1, h: -1 }), {
    x: 0,
    y: 0,
    w: 1,
    h: 1,
  });
});
