import assert from "node:assert/strict";
import { test } from "node:test";
import { fillDiskRepeatedly } from "../../scripts/soak/full-disk.ts";
import { killRepeatedly } from "../../scripts/soak/kills.ts";

test("a host killed while it writes loses no acknowledged change", async (t) => {
  const { startMs: _, ...count } = await killRepeatedly(6);

  t.diagnostic(JSON.stringify(count));
  assert.deepEqual([count.lost, count.corrupt], [0, 0]);
  assert.ok(count.acknowledged > 0, "documents were written");
});

test("a full disk is answered with 507, and the previous documents stay intact", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("a small disk can be mounted by root alone");
  const count = await fillDiskRepeatedly(15);

  t.diagnostic(JSON.stringify(count));
  assert.deepEqual([count.lost, count.corrupt, count.left], [0, 0, 0]);
  assert.deepEqual(Object.keys(count.statuses), ["200", "507"]);
});
