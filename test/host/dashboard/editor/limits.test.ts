import assert from "node:assert/strict";
import { test } from "node:test";
import { firstSize, limitsFor, sizeMisfit } from "../../../../host/dashboard/editor/limits.ts";

const SIZE = { default: [3, 5], min: [2, 4], max: [6, 10] } as const;
const WALL = { breakpoint: "lg", columns: 12 } as const;
const TABLET = { breakpoint: "md", columns: 12 } as const;
const PHONE = { breakpoint: "sm", columns: 12 } as const;

test("a tile on the wall may have the sizes that its widget recommends", () => {
  assert.deepEqual(limitsFor(place(3, 5), SIZE, WALL), { minW: 2, minH: 4, maxW: 6, maxH: 10 });
});

test("a tile outside of the recommended sizes may stay, and move towards them", () => {
  assert.deepEqual(limitsFor(place(1, 12), SIZE, WALL), { minW: 1, minH: 4, maxW: 6, maxH: 12 });
  assert.deepEqual(limitsFor(place(8, 2), SIZE, WALL), { minW: 2, minH: 2, maxW: 8, maxH: 10 });
});

test("the height of a tile on a tablet or phone cannot be set, and a phone needs more columns", () => {
  assert.deepEqual(limitsFor(place(3, 5), SIZE, TABLET), { minW: 2, minH: 5, maxW: 6, maxH: 5 });
  assert.deepEqual(limitsFor(place(6, 1), SIZE, PHONE), { minW: 6, minH: 1, maxW: 12, maxH: 1 });
});

test("a widget without recommendations may have any size that the screen has", () => {
  const limits = limitsFor(place(4, 4), undefined, WALL);

  assert.deepEqual(limits, { minW: 1, minH: 1, maxW: 12, maxH: Infinity });
});

test("a tile that is too small or too large for its widget is named, by its height on the wall only", () => {
  const sizes = [place(1, 5), place(3, 3), place(7, 5), place(3, 11), place(2, 4), place(6, 10)];

  assert.deepEqual(
    sizes.map((each) => sizeMisfit(each, SIZE, WALL)),
    ["small", "small", "large", "large", undefined, undefined],
  );
  assert.equal(sizeMisfit(place(3, 1), SIZE, TABLET), undefined);
  assert.equal(sizeMisfit(place(5, 1), SIZE, PHONE), "small");
});

test("a new tile has the default size, at least the minimum, and no more columns than the screen", () => {
  assert.deepEqual(firstSize(SIZE, WALL), { w: 3, h: 5 });
  assert.deepEqual(firstSize({ default: [1, 1], min: [2, 4] }, WALL), { w: 2, h: 4 });
  assert.deepEqual(firstSize({ default: [20, 4] }, WALL), { w: 12, h: 4 });
  assert.deepEqual(firstSize(SIZE, PHONE), { w: 6, h: 1 });
  assert.deepEqual(firstSize(undefined, WALL), { w: 4, h: 4 });
});

function place(w: number, h: number) {
  return { x: 0, y: 0, w, h };
}
