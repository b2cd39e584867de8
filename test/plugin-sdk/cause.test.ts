import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cause, causedBy, MAX_CAUSES } from "@mantel/plugin-sdk/cause";

test("a chain of causes keeps the nearest eight", () => {
  let cause: Cause | undefined;
  for (let at = 1; at <= 20; at++) {
    cause = causedBy({ kind: "automation", id: `${at}`, name: "" }, cause);
  }

  const ids: string[] = [];
  for (let each = cause; each; each = each.parent) ids.push(each.id);
  assert.deepEqual(ids, ["20", "19", "18", "17", "16", "15", "14", "13"]);
  assert.equal(ids.length, MAX_CAUSES);
});

test("a first cause has no parent", () => {
  assert.deepEqual(causedBy({ kind: "token", id: "1", name: "script" }, undefined), {
    kind: "token",
    id: "1",
    name: "script",
  });
});
