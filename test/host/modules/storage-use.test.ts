import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { mkdir, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  measureDeleted,
  measureFolders,
  readFreeSpace,
} from "../../../host/modules/process/storage-use.ts";
import { DISK, emptyFolder } from "../../helpers/folder.ts";

const KIB = 1_024;
const ALL = 1_000_000;

/** A folder with two files of 64 KiB, one of them in a folder below. */
async function makeFiles(t: TestContext): Promise<{ root: string; bytes: number }> {
  const root = await emptyFolder(t);
  await mkdir(join(root, "deep"));
  const files = [join(root, "a"), join(root, "deep/b")];
  for (const file of files) await writeFile(file, Buffer.alloc(64 * KIB, 1));
  let bytes = 0;
  for (const path of [...files, join(root, "deep")]) bytes += (await stat(path)).blocks * 512;
  return { root, bytes };
}

test("the blocks and entries of a folder count at every depth", async (t) => {
  const { root, bytes } = await makeFiles(t);

  const use = await measureFolders([{ path: root }], ALL);

  assert.deepEqual(use, { bytes, entries: 3 });
  assert.ok(use.bytes >= 128 * KIB);
});

test("several folders count together, each without what is free in it", async (t) => {
  const { root, bytes } = await makeFiles(t);

  const use = await measureFolders(
    [{ path: root, freeBytes: 16 * KIB }, { path: root, freeBytes: 2 ** 30 }, { path: root }],
    ALL,
  );

  assert.deepEqual(use, { bytes: 2 * bytes - 16 * KIB, entries: 9 });
});

test("a file with holes counts by its blocks, and a link by itself", async (t) => {
  const root = await emptyFolder(t);
  const other = await emptyFolder(t);
  await writeFile(join(other, "large"), Buffer.alloc(64 * KIB, 1));
  await writeFile(join(root, "sparse"), "");
  await truncate(join(root, "sparse"), 2 ** 30);
  await symlink(other, join(root, "link"));

  const { bytes, entries } = await measureFolders([{ path: root }], ALL);

  assert.ok(bytes < 64 * KIB, String(bytes));
  assert.equal(entries, 2);
});

test("counting stops at the most entries, over all folders", async (t) => {
  const root = await emptyFolder(t);
  for (let count = 0; count < 10; count++) await writeFile(join(root, `${count}`), "");

  assert.equal((await measureFolders([{ path: root }], 4)).entries, 4);
  const { entries } = await measureFolders([{ path: root }, { path: root }], 14);
  assert.equal(entries, 14);
});

test("a folder that is not there is empty", async (t) => {
  const path = join(await emptyFolder(t), "gone");

  assert.deepEqual(await measureFolders([{ path }], ALL), { bytes: 0, entries: 0 });
});

test("more files than are examined at once count", async (t) => {
  const root = await emptyFolder(t);
  const block = Buffer.alloc(4 * KIB, 1);
  for (let count = 0; count < 130; count++) await writeFile(join(root, `${count}`), block);

  const { bytes, entries } = await measureFolders([{ path: root }], ALL);

  assert.equal(entries, 130);
  assert.ok(bytes >= 130 * 4 * KIB, String(bytes));
});

test("a deleted file counts while the process has it open", async (t) => {
  const file = join(await emptyFolder(t, DISK), "a");
  await writeFile(file, Buffer.alloc(256 * KIB, 1));
  const before = measureDeleted(process.pid);
  const descriptor = openSync(file, "r");
  await rm(file);

  const open = measureDeleted(process.pid) - before;
  closeSync(descriptor);

  assert.ok(open >= 256 * KIB, String(open));
  assert.equal(measureDeleted(process.pid), before);
});

test("the free space of a disk is known in bytes and entries", async (t) => {
  const folder = await emptyFolder(t);
  const { bytes = 0 } = readFreeSpace(folder) ?? {};

  assert.ok(bytes > 2 ** 20, String(bytes));
  assert.equal(readFreeSpace(join(folder, "absent")), undefined);
});
