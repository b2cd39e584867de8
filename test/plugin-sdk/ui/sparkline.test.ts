import assert from "node:assert/strict";
import { test } from "node:test";
import { atMoments, sparklinePaths } from "@mantel/plugin-sdk/ui/sparkline";

const FULL = 24;
const SCALE = { span: 20, floor: 0, ceiling: 100 };

test("the newest value is at the right, and larger values are drawn higher", () => {
  const { line } = sparklinePaths(
    Array.from({ length: FULL }, (_, index) => index * 4),
    SCALE,
  );

  const points = pointsOf(line);
  assert.equal(points.length, FULL);
  assert.deepEqual(points.at(0), [0, 92]);
  assert.deepEqual(points.at(-1), [100, 8]);
});

test("a short history is drawn at the right", () => {
  const { line, area } = sparklinePaths([10, 20], SCALE);

  assert.deepEqual(
    pointsOf(line).map(([x]) => x),
    [90.91, 100],
  );
  assert.match(area, /V100H90\.91Z$/);
});

test("small changes stay small in the chart", () => {
  const heights = pointsOf(sparklinePaths([50, 51, 50, 51], SCALE).line).map(([, y]) => y ?? 0);

  assert.ok(Math.max(...heights) - Math.min(...heights) < 10);
});

test("unknown values leave a gap, and a single value draws no line", () => {
  assert.equal(pointsOf(sparklinePaths([1, null, 3], SCALE).line).length, 2);
  assert.deepEqual(sparklinePaths([1, null], SCALE), { line: "", area: "" });
});

test("a reading is valid until the next one, and values before the first are unknown", () => {
  const readings = [
    { at: 20, value: 5 },
    { at: 41, value: 7 },
  ];

  assert.deepEqual(atMoments(readings, { to: 50, stepMs: 10, count: 5 }), [null, 5, 5, 5, 7]);
});

function pointsOf(line: string): number[][] {
  return line
    .slice(1)
    .split("L")
    .map((point) => point.split(" ").map(Number));
}
