import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { openDataFolder } from "../../host/folders.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";

test("a data folder on a read-only disk is refused with a clear message", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("a read-only disk can be mounted by root alone");
  const folder = await emptyFolder(t);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", folder], { stdio: "pipe" });
  } catch {
    return t.skip("nothing can be mounted here");
  }
  onTestEnd(t, async () => void execFileSync("umount", [folder]));

  await assert.rejects(openDataFolder(folder), {
    code: "invalid",
    message: /cannot be used: the disk is read-only; choose another one with --data/,
  });
});
