import assert from "node:assert/strict";
import { test } from "node:test";
import { applied, mergePatch } from "../../../../host/dashboard/settings/merge-patch.ts";

test("a patch contains only changes, and removed values as null", () => {
  const before = { host: "a", port: 1, deep: { same: 1, other: 2 }, list: [1, 2] };
  const after = { host: "b", deep: { same: 1, other: 3 }, list: [1] };

  const patch = mergePatch(before, after);

  assert.deepEqual(patch, { host: "b", port: null, deep: { other: 3 }, list: [1] });
});

test("an unchanged secret is not sent, an entered one is", () => {
  const before = { password: { set: true }, key: { set: true } };

  const patch = mergePatch(before, { password: { set: true }, key: "new" });

  assert.deepEqual(patch, { key: "new" });
});

test("a document after its patch is the other document", () => {
  const before = { a: 1, b: { c: 2, d: 3 }, gone: true };
  const after = { a: 1, b: { c: 4 }, e: { f: [1] } };

  assert.deepEqual(applied(before, mergePatch(before, after)), after);
  assert.deepEqual(applied({ b: 7 }, { b: { c: 1 } }), { b: { c: 1 } });
});
