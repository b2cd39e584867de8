import assert from "node:assert/strict";
import { test } from "node:test";
import { loadBetween, readCores } from "../../../plugins/system/cpu.ts";

const core = (busyMs: number, totalMs: number) => ({ busyMs, totalMs });

test("the load is the busy share of the time between two readings", () => {
  const load = loadBetween(
    [core(100, 1_000), core(0, 1_000)],
    [core(350, 2_000), core(1_000, 2_000)],
  );

  assert.deepEqual(load, { percent: 62.5, perCore: [25, 100] });
});

test("without a previous sample the load is unknown", () => {
  assert.deepEqual(loadBetween([], [core(1, 2)]), { percent: null, perCore: [] });
});

test("a changed number of cores makes one load value unknown", () => {
  const load = loadBetween([core(0, 0)], [core(1, 2), core(1, 2)]);

  assert.equal(load.percent, null);
});

test("readings without time between them give no load", () => {
  assert.equal(loadBetween([core(1, 2)], [core(1, 2)]).percent, null);
});

test("a busy core increases the load", () => {
  const before = readCores();
  const endsAt = performance.now() + 300;
  while (performance.now() < endsAt);

  const { percent } = loadBetween(before, readCores());

  assert.ok(percent !== null && percent > 10, `${percent} %`);
});
