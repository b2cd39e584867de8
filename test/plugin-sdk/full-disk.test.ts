import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { DocumentFile } from "../../plugin-sdk/document-file.ts";
import { collectedLog } from "../helpers/collected-log.ts";

test("a full disk is reported, and the old document stays intact", async (t) => {
  const folder = await smallDisk(t);
  if (folder === undefined) return t.skip("a disk of 64 KiB cannot be mounted here");
  const path = join(folder, "counter.json");
  const open = () => new DocumentFile({ path, parse: (value) => value, log: collectedLog() });
  const file = open();
  await file.write({ count: 1 });

  await assert.rejects(file.write({ count: 2, padding: "x".repeat(100_000) }), {
    code: "disk_full",
    status: 507,
  });

  assert.deepEqual(await open().load(), { count: 1 });
  assert.deepEqual((await readdir(folder)).toSorted(), ["counter.json", "counter.json.last-good"]);
});

/** A file system of 64 KiB, where the user may mount one. */
async function smallDisk(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  t.after(async () => {
    execFileSync("umount", [folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}
