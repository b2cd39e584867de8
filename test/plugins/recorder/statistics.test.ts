import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as holds, tuple, integer, property, array, boolean } from "fast-check";
import {
  HOUR_MS,
  merged,
  NOTHING,
  statsOf,
  STEP_MS,
} from "../../../plugins/recorder/statistics.ts";

const MINUTE_MS = 60_000;
const HOUR = { from: 0, to: HOUR_MS, stepMs: STEP_MS };
const at = (...minutes: number[]) => minutes.map((each) => each * MINUTE_MS);
const gauge = { carry: NOTHING, isCounter: false };

test("the mean is weighted by the time in which a value was held", () => {
  const { stats } = statsOf({ at: at(0, 45), value: [20, 24] }, HOUR, gauge);
  const hour = merged(stats, HOUR.from, HOUR.to);

  assert.deepEqual([hour?.min, hour?.mean, hour?.max], [20, 21, 24]);
  assert.equal(stats.length, 12);
});

test("a value before the hour counts until the first report", () => {
  const carry = { value: 10, known: 10 };
  const { stats, carry: after } = statsOf({ at: at(30), value: [20] }, HOUR, {
    carry,
    isCounter: false,
  });

  assert.equal(merged(stats, 0, HOUR_MS)?.mean, 15);
  assert.deepEqual(after, { value: 20, known: 20 });
});

test("time in which nothing was known does not count", () => {
  const { stats, carry } = statsOf({ at: at(0, 10), value: [20, NaN] }, HOUR, gauge);
  const hour = merged(stats, 0, HOUR_MS);

  assert.deepEqual([hour?.mean, hour?.knownMs, stats.length], [20, 10 * MINUTE_MS, 2]);
  assert.deepEqual(carry, { value: NaN, known: 20 });
});

test("a short spike is in minimum and maximum", () => {
  const { stats } = statsOf({ at: [0, 1_000, 1_000], value: [5, 500, 5] }, HOUR, gauge);

  assert.equal(merged(stats, 0, HOUR_MS)?.max, 500);
});

const COUNTERS: readonly (readonly [what: string, values: number[], increase: number])[] = [
  ["rises", [100, 101, 103.5], 3.5],
  ["begins again at 0", [100, 101, 0, 2], 3],
  ["is set back a little", [100, 99.9, 100.1], 0.2],
  ["was unknown for a while", [100, NaN, 104], 4],
];
for (const [what, value, increase] of COUNTERS) {
  test(`the sum of a counter that ${what} is its increase`, () => {
    const carry = { value: 100, known: 100 };
    const curve = { at: at(...value.map((_, index) => 7 * index)), value };

    const { stats } = statsOf(curve, HOUR, { carry, isCounter: true });

    assert.ok(Math.abs((merged(stats, 0, HOUR_MS)?.sum ?? 0) - increase) < 1e-9);
  });
}

test("hours that are made one by one are the same as all of them at once", () => {
  const report = tuple(integer({ min: 0, max: 3 * HOUR_MS - 1 }), integer({ min: -50, max: 50 }));
  holds(
    property(array(report, { maxLength: 60 }), boolean(), (reports, isCounter) => {
      const sorted = reports.toSorted(([a], [b]) => a - b);
      const curve = { at: sorted.map(([each]) => each), value: sorted.map(([, value]) => value) };
      const whole = statsOf(
        curve,
        { from: 0, to: 3 * HOUR_MS, stepMs: STEP_MS },
        { carry: NOTHING, isCounter },
      );

      let carry = NOTHING;
      const parts = [0, 1, 2].flatMap((hour) => {
        const span = { from: hour * HOUR_MS, to: (hour + 1) * HOUR_MS, stepMs: STEP_MS };
        const part = statsOf(curve, span, { carry, isCounter });
        carry = part.carry;
        return part.stats;
      });

      assert.deepEqual(parts, whole.stats);
      assert.deepEqual(carry, whole.carry);
    }),
  );
});
