import assert from "node:assert/strict";
import { test } from "node:test";
import { pictureName } from "../../../../host/dashboard/settings/shrink-picture.ts";

const CASES = [
  ["Holiday.HEIC", [], "Holiday.jpg"],
  ["Holiday.png", ["Holiday.jpg", "Holiday 2.jpg"], "Holiday 3.jpg"],
  ["a/b\\c.png", [], "abc.jpg"],
  [".hidden.png", [], "hidden.jpg"],
  ["....", [], "photo.jpg"],
  ["a\u0000\u202e\n.jpg", [], "a.jpg"],
  ["Ku\u0308che.jpg", [], "K\u00fcche.jpg"],
  [`${"x".repeat(300)}.jpg`, [], `${"x".repeat(60)}.jpg`],
] as const;

for (const [file, taken, name] of CASES) {
  test(`the picture of ${JSON.stringify(file).slice(0, 40)} is named ${name.slice(0, 20)}`, () => {
    assert.equal(pictureName(file, new Set(taken)), name);
  });
}
