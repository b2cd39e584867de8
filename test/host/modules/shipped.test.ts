import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readShipped } from "../../../host/modules/manifest/shipped.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("a plugin counts as built-in if it is listed and runs from its folder beside the list", async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "clock"));
  await writeFile(join(folder, "shipped.json"), JSON.stringify(["clock"]));

  const { isShipped } = await readShipped(folder);

  assert.equal(isShipped({ id: "clock", folder: join(folder, "clock") }), true);
  assert.equal(
    isShipped({ id: "clock", folder: "/elsewhere/clock" }),
    false,
    "the same id elsewhere",
  );
  assert.equal(isShipped({ id: "clock", folder: join(folder, "other") }), false, "another folder");
  assert.equal(isShipped({ id: "other", folder: join(folder, "other") }), false, "not listed");
  assert.equal(
    isShipped({ id: "other", folder: join(folder, "clock") }),
    false,
    "under another id",
  );
});

test("without a list no plugin counts as built-in, and a damaged list is refused", async (t) => {
  const folder = await emptyFolder(t);
  const { isShipped } = await readShipped(folder);
  assert.equal(isShipped({ id: "clock", folder: join(folder, "clock") }), false);

  await writeFile(join(folder, "shipped.json"), "[1]");
  await assert.rejects(readShipped(folder), {
    code: "invalid",
    message: /shipped\.json is invalid/,
  });
  await rm(join(folder, "shipped.json"));
  await mkdir(join(folder, "shipped.json"));
  await assert.rejects(readShipped(folder), { code: "EISDIR" });
});
