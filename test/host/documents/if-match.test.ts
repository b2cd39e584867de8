import assert from "node:assert/strict";
import { test } from "node:test";
import { assertIfMatch, entityTag } from "../../../host/documents/if-match.ts";

test("the revision's tag, a list with it, a star and an absent header match", () => {
  for (const ifMatch of ['"7"', '"6", "7"', "*", undefined]) assertIfMatch(7, ifMatch);
  assert.equal(entityTag(7), '"7"');
});

test("other tags, weak tags and bare numbers are stale", () => {
  for (const ifMatch of ['"6"', 'W/"7"', "7", '""', ""]) {
    assert.throws(() => assertIfMatch(7, ifMatch), { code: "revision_stale", status: 412 });
  }
});
