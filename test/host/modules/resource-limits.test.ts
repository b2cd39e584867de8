import assert from "node:assert/strict";
import { test } from "node:test";
import { CpuUse } from "../../../host/modules/process/resource-limits.ts";

test("CPU time counts from the first measurement and within the window", () => {
  const use = new CpuUse(30_000);

  const used = [0, 10_000, 30_000, 40_000, 50_000].map((at) => use.add(500 + at / 2, at));

  assert.deepEqual(used, [0, 5_000, 15_000, 15_000, 10_000]);
});

test("a burst counts immediately and expires with its window", () => {
  const use = new CpuUse(30_000);
  const usedMs = (at: number) => Math.min(10_000, Math.max(0, at - 30_000));

  const used = new Map<number, number>();
  for (let at = 0; at <= 80_000; at += 250) used.set(at, use.add(usedMs(at), at));

  assert.equal(used.get(30_000), 0);
  assert.equal(used.get(35_000), 5_000);
  assert.equal(used.get(45_000), 10_000);
  assert.equal(used.get(80_000), 0);
});
