import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeBackupInProcess, stageRestoreInProcess } from "../../../host/backup/worker-process.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("a cancelled backup and a cancelled restore are named as such", async (t) => {
  const folder = await emptyFolder(t);
  const program = join(folder, "endless.mjs");
  await writeFile(program, "setInterval(() => {}, 1_000);");
  const signal = AbortSignal.abort();
  const make = { kind: "make", dataFolder: folder, version: "1.0.0" } as const;
  const restore = { kind: "restore", dataFolder: folder, staging: "staging" } as const;

  await assert.rejects(makeBackupInProcess(program, make, signal), {
    code: "service_unavailable",
    message: "the backup was cancelled",
  });
  await assert.rejects(stageRestoreInProcess(program, restore, { body: Buffer.alloc(0), signal }), {
    code: "service_unavailable",
    message: "the restore was cancelled",
  });
});
