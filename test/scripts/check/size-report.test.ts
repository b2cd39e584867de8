import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeReport } from "../../../scripts/check/size-report.ts";

test("size warnings are counted, and the ten furthest above their limit are shown", () => {
  const files = Array.from(
    { length: 12 },
    (_, at) =>
      `host/f${at}.ts:401:2: File has too many lines (${401 + at}). [Warning/eslint(max-lines)]`,
  );
  const complex =
    "host/a.ts:8:8: function `a` has a complexity of 24. Maximum allowed is 12. [Warning/eslint(complexity)]";
  const long =
    "host/b.ts:9:1: The function `b` has too many lines (90). Maximum allowed is 60. [Warning/eslint(max-lines-per-function)]";

  const lines = sizeReport([...files, long, complex, "", "14 problems"].join("\n")).split("\n");

  assert.equal(lines.length, 11);
  assert.equal(lines[0], "14 warnings about size; the furthest above a limit:");
  assert.match(lines[1] ?? "", /^ {2}host\/a\.ts:8:8: .+ Maximum allowed is 12\.$/);
  assert.match(lines[2] ?? "", /host\/b\.ts/);
  assert.match(lines[3] ?? "", /host\/f11\.ts.*\(412\)/);
});
