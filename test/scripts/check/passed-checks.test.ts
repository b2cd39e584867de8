import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { PassedChecks } from "../../../scripts/check/passed-checks.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("a check has passed for the same digest only, also in the next run", async (t) => {
  const file = join(await emptyFolder(t), "cache/passed.json");
  const first = new PassedChecks(file);
  assert.equal(first.has("host/lamp.ts", "a"), false);
  first.add([["host/lamp.ts", "a"]]);
  first.save();

  const next = new PassedChecks(file);

  assert.equal(next.has("host/lamp.ts", "a"), true);
  assert.equal(next.has("host/lamp.ts", "b"), false);
});

test("a damaged file counts as nothing passed", async (t) => {
  const file = join(await emptyFolder(t), "passed.json");
  await writeFile(file, '{"host/lamp.ts": "a');

  assert.equal(new PassedChecks(file).has("host/lamp.ts", "a"), false);
});
