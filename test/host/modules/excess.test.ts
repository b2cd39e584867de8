import assert from "node:assert/strict";
import { test } from "node:test";
import { CpuShare } from "../../../host/modules/excess.ts";

test("a share of the CPU is known once a whole window was seen", () => {
  const share = new CpuShare(30_000);

  const shares = [0, 10_000, 20_000, 30_000].map((at) => share.add(at / 2, at));

  assert.deepEqual(shares, [undefined, undefined, undefined, 50]);
});

test("a burst within the window counts with the rest of it, and goes out of sight", () => {
  const share = new CpuShare(30_000);
  const usedMs = (at: number) => Math.min(10_000, Math.max(0, at - 30_000));

  const shares = new Map<number, number | undefined>();
  for (let at = 0; at <= 80_000; at += 250) shares.set(at, share.add(usedMs(at), at));

  assert.equal(shares.get(30_000), 0);
  assert.equal(shares.get(45_000), (10_000 / 30_000) * 100);
  assert.equal(shares.get(80_000), 0);
});
