import assert from "node:assert/strict";
import { test } from "node:test";
import { sparkline } from "../../../plugins/system-widget/widget/sparkline.ts";

const FULL = 24;

test("the newest value is at the right, and higher values are higher", () => {
  const { line } = sparkline(
    Array.from({ length: FULL }, (_, index) => index * 4),
    100,
  );

  const points = pointsOf(line);
  assert.equal(points.length, FULL);
  assert.deepEqual(points.at(0), [0, 92]);
  assert.deepEqual(points.at(-1), [100, 8]);
});

test("a short history stays at the right", () => {
  const { line, area } = sparkline([10, 20], 100);

  assert.deepEqual(
    pointsOf(line).map(([x]) => x),
    [90.91, 100],
  );
  assert.match(area, /V100H90\.91Z$/);
});

test("calm figures look calm", () => {
  const heights = pointsOf(sparkline([50, 51, 50, 51], 100).line).map(([, y]) => y ?? 0);

  assert.ok(Math.max(...heights) - Math.min(...heights) < 10);
});

test("unknown values leave their place out, and one value is no line", () => {
  assert.equal(pointsOf(sparkline([1, null, 3], 100).line).length, 2);
  assert.deepEqual(sparkline([1, null], 100), { line: "", area: "" });
});

function pointsOf(line: string): number[][] {
  return line
    .slice(1)
    .split("L")
    .map((point) => point.split(" ").map(Number));
}
