import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { LatestWins, RateBudget } from "@mantel/plugin-sdk/latest-wins";

function open(t: TestContext, rate = { burst: 2, perSecond: 10 }) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const budget = new RateBudget(rate);
  const passed: number[] = [];
  const replaced: number[] = [];
  const latest = new LatestWins<number>({
    waitMs: () => budget.waitMs(1),
    pass(value) {
      budget.take(1);
      passed.push(value);
    },
    replaced: (value) => replaced.push(value),
  });
  const wait = (ms: number): void => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  return { latest, passed, replaced, wait };
}

test("a burst passes at once, and then one value at a time at the rate, the latest", (t) => {
  const { latest, passed, replaced, wait } = open(t);

  for (let value = 1; value <= 100; value++) latest.put(value);
  assert.deepEqual(passed, [1, 2]);
  wait(100);
  assert.deepEqual(passed, [1, 2, 100]);
  assert.equal(replaced.length, 97);
  latest.put(101);
  assert.deepEqual(passed, [1, 2, 100]);
  wait(100);
  assert.deepEqual(passed, [1, 2, 100, 101]);

  wait(200);
  latest.put(102);
  latest.put(103);
  assert.deepEqual(passed.slice(4), [102, 103]);
});

test("a value that waits can be passed on, or dropped", (t) => {
  const { latest, passed, replaced, wait } = open(t, { burst: 1, perSecond: 1 });
  latest.put(1);
  latest.put(2);
  latest.flush();
  assert.deepEqual(passed, [1, 2]);
  latest.put(3);
  latest.stop();
  wait(10_000);
  latest.flush();
  assert.deepEqual([passed, replaced], [[1, 2], [3]]);
});

test("a cost above the whole budget waits until the budget is full", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const budget = new RateBudget({ burst: 100, perSecond: 100 });
  assert.equal(budget.waitMs(1_000), 0);
  budget.take(1_000);
  assert.equal(budget.waitMs(1), 9_010);
  now = 10_000;
  assert.equal(budget.waitMs(1_000), 0);
});
