import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { appendLine } from "../../../host/auth/append-line.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("each record is a line of its own, also after one that was cut off", async (t) => {
  const path = join(await emptyFolder(t), "records");

  await appendLine(path, { n: 1 });
  await appendLine(path, { n: 2 });

  assert.equal(await readFile(path, "utf8"), '\n{"n":1}\n\n{"n":2}\n');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a full disk is reported as such", { skip: process.platform !== "linux" }, async () => {
  await assert.rejects(appendLine("/dev/full", { n: 1 }), {
    code: "disk_full",
    message: "the disk is full; full was not changed",
  });
});

test("any other failure is the file system's error", async () => {
  await assert.rejects(appendLine("/nowhere/records", {}), { code: "ENOENT" });
});
