import assert from "node:assert/strict";
import { test } from "node:test";
import { percentToSpeed, speedToPercent } from "@mantel/plugin-sdk";

for (const speeds of [1, 3, 4, 6, 7, 100, 200]) {
  test(`each of ${speeds} speeds is the speed of its percentage`, () => {
    const all = Array.from({ length: speeds + 1 }, (_, speed) => speed);

    const percents = all.map((speed) => speedToPercent(speed, speeds));

    assert.deepEqual([percents[0], percents[speeds]], [0, 100]);
    assert.deepEqual(
      percents.map((percent) => percentToSpeed(percent, speeds)),
      all,
    );
  });
}

test("a percentage between two speeds is the higher one, as in Home Assistant", () => {
  const speeds = [0, 0.1, 33, 33.33, 34, 66, 66.67, 67, 100].map((each) => percentToSpeed(each, 3));

  assert.deepEqual(speeds, [0, 1, 1, 1, 2, 2, 2, 3, 3]);
});

test("a speed beyond the fastest is 100 %", () => {
  assert.deepEqual([speedToPercent(-1, 3), speedToPercent(9, 3)], [0, 100]);
});
