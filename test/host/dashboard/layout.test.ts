import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arrange,
  type Geometry,
  HEADER,
  inReadingOrder,
  type Page,
} from "../../../host/dashboard/layout.ts";

const GRID = { columns: 12, rowHeight: 20, gap: 12 };
/** A clock and an agenda at the left; scenes, a room and two small tiles at the right. */
const WALL = pageOf({
  clock: [0, 0, 4, 9],
  agenda: [0, 9, 4, 14],
  scenes: [4, 2, 8, 2],
  room: [4, 4, 8, 5],
  cpu: [4, 9, 2, 4],
  memory: [6, 9, 2, 4],
});

test("reading order goes by columns, then by rows", () => {
  const order = inReadingOrder(cells(WALL)).map(({ id }) => id);

  assert.deepEqual(order, ["clock", "agenda", "scenes", "room", "cpu", "memory"]);
});

test("the header uses the free corner at the top right", () => {
  const header = arrange(WALL, GRID, "lg").find(({ id }) => id === HEADER);

  assert.deepEqual(header?.geometry, { x: 4, y: 0, w: 8, h: 2 });
});

test("without a free corner everything moves down for the header", () => {
  const page = pageOf({ left: [0, 0, 6, 4], right: [6, 0, 6, 4] });

  const placed = placesOf(arrange(page, GRID, "lg"));

  assert.deepEqual(placed[HEADER], { x: 0, y: 0, w: 12, h: 2 });
  assert.deepEqual(placed.left, { x: 0, y: 2, w: 6, h: 4 });
});

test("high rows need one row for the header", () => {
  const page = pageOf({ left: [0, 0, 12, 4] });

  const placed = placesOf(arrange(page, { columns: 12, rowHeight: 56, gap: 8 }, "lg"));

  assert.equal(placed.left?.y, 1);
});

test("an upright tablet stacks the bands of the wall over the full width", () => {
  const placed = arrange(WALL, GRID, "md");

  assert.deepEqual(
    placed.map(({ id, geometry: { x, w } }) => [id, x, w]),
    [
      ["clock", 0, 12],
      ["agenda", 0, 12],
      [HEADER, 0, 12],
      ["scenes", 0, 12],
      ["room", 0, 12],
      ["cpu", 0, 3],
      ["memory", 3, 3],
    ],
  );
});

test("on a phone small tiles are side by side and others below each other", () => {
  const placed = arrange(WALL, GRID, "sm");

  assert.deepEqual(
    placed.map(({ id, geometry: { x, y, w } }) => [id, x, y, w]),
    [
      ["clock", 0, 0, 12],
      ["agenda", 0, 1, 12],
      [HEADER, 0, 2, 12],
      ["scenes", 0, 3, 12],
      ["room", 0, 4, 12],
      ["cpu", 0, 5, 6],
      ["memory", 6, 5, 6],
    ],
  );
});

test("a breakpoint stored for every widget is used unchanged", () => {
  const page: Page = {
    ...WALL,
    widgets: WALL.widgets.map((widget, y) => ({
      ...widget,
      geometry: { ...widget.geometry, sm: { x: 0, y: y + 2, w: 12, h: 1 } },
    })),
  };

  const placed = placesOf(arrange(page, GRID, "sm"));

  assert.deepEqual(placed.memory, { x: 0, y: 7, w: 12, h: 1 });
});

test("an empty page still has its header", () => {
  for (const breakpoint of ["lg", "md", "sm"] as const) {
    assert.deepEqual(
      arrange(pageOf({}), GRID, breakpoint).map(({ id }) => id),
      [HEADER],
    );
  }
});

function pageOf(places: Record<string, [x: number, y: number, w: number, h: number]>): Page {
  const widgets = Object.entries(places).map(([id, [x, y, w, h]]) => ({
    id,
    module: "a-widget",
    config: {},
    geometry: { lg: { x, y, w, h } },
  }));
  return { id: "home", title: "Home", widgets };
}

function cells({ widgets }: Page): { id: string; geometry: Geometry }[] {
  return widgets.map(({ id, geometry }) => ({ id, geometry: geometry.lg }));
}

function placesOf(
  placed: readonly { id: string; geometry: Geometry }[],
): Record<string, Geometry | undefined> {
  return Object.fromEntries(placed.map(({ id, geometry }) => [id, geometry]));
}
