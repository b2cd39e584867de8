import assert from "node:assert/strict";
import { test } from "node:test";
import { isScope, permits, SCOPES } from "../../../host/auth/scopes.ts";

test("each scope includes the lower ones and nothing above", () => {
  const table = SCOPES.map((held) =>
    SCOPES.map((needed) => Number(permits([held], needed))).join(""),
  );

  assert.deepEqual(table, ["1000", "1100", "1110", "1111"]);
});

test("a token with several scopes has the highest of them, and one without has none", () => {
  assert.ok(permits(["read", "edit"], "control"));
  assert.ok(!permits([], "read"));
});

test("only the exact names are scopes", () => {
  assert.deepEqual(["admin", "Admin", "nonadmin", "toString", "", 0, undefined].map(isScope), [
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
