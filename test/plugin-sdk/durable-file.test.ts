import assert from "node:assert/strict";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdir, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { sweepTemporaryFiles, syncFolder, writeDurably } from "@mantel/plugin-sdk/durable-file";
import { emptyFolder } from "../helpers/folder.ts";

test("a new file is readable only by its owner, and no temporary file remains", async (t) => {
  const folder = await emptyFolder(t);

  await writeDurably(join(folder, "config.json"), "{}");

  assert.equal(await readFile(join(folder, "config.json"), "utf8"), "{}");
  assert.equal((await stat(join(folder, "config.json"))).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ["config.json"]);
});

test("a file gets the requested mode", async (t) => {
  const folder = await emptyFolder(t);

  await writeDurably(join(folder, "public.json"), "{}", 0o640);

  assert.equal((await stat(join(folder, "public.json"))).mode & 0o777, 0o640);
});

test("new content replaces old content of any length", async (t) => {
  const path = join(await emptyFolder(t), "notes");

  for (const content of ["a long first text", "short", "ünïcödé ✓".repeat(20_000), ""]) {
    await writeDurably(path, content);
    assert.equal(await readFile(path, "utf8"), content);
  }
});

/** Lets `sync` of all handles fail with a code. */
async function failSyncs(t: TestContext, folder: string, code: string): Promise<void> {
  const handle = await open(folder, "r");
  const prototype = Object.getPrototypeOf(handle) as { sync: () => Promise<void> };
  await handle.close();
  t.mock.method(prototype, "sync", () =>
    Promise.reject(Object.assign(new Error("no sync"), { code })),
  );
}

test("a file is stored where Node's permission model refuses to sync it, as Node 24 does", async (t) => {
  const folder = await emptyFolder(t);
  await failSyncs(t, folder, "ERR_ACCESS_DENIED");

  await writeDurably(join(folder, "notes"), "new");

  assert.equal(await readFile(join(folder, "notes"), "utf8"), "new");
  assert.deepEqual(await readdir(folder), ["notes"]);
});

test("a file whose content does not reach the disk stays as it was", async (t) => {
  const folder = await emptyFolder(t);
  await writeDurably(join(folder, "notes"), "old");
  await failSyncs(t, folder, "EIO");

  await assert.rejects(writeDurably(join(folder, "notes"), "new"), { code: "EIO" });

  assert.equal(await readFile(join(folder, "notes"), "utf8"), "old");
  assert.deepEqual(await readdir(folder), ["notes"]);
});

test("a write that fails leaves the old file and no temporary one", async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "taken"));
  await writeFile(join(folder, "taken", "inside"), "old");

  await assert.rejects(writeDurably(join(folder, "taken"), "new"), { code: /EISDIR|ENOTEMPTY/ });

  assert.deepEqual(await readdir(folder), ["taken"]);
  assert.equal(await readFile(join(folder, "taken", "inside"), "utf8"), "old");
});

test("a missing folder is reported with the file system's error", async (t) => {
  const folder = await emptyFolder(t);

  await assert.rejects(writeDurably(join(folder, "none", "file"), ""), {
    code: "ENOENT",
    syscall: "open",
  });
});

test("concurrent writes of one file leave one complete version", async (t) => {
  const folder = await emptyFolder(t);
  const contents = Array.from({ length: 20 }, (_, at) => String(at).repeat(10_000));

  await Promise.all(contents.map((content) => writeDurably(join(folder, "file"), content)));

  assert.ok(contents.includes(await readFile(join(folder, "file"), "utf8")));
  assert.deepEqual(await readdir(folder), ["file"]);
});

test("the content is on the disk before the file is replaced, and the replacement afterwards", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "file");
  await writeFile(path, "old");
  const { prototype, handles } = await watchHandles(folder);
  const seen: string[] = [];
  t.mock.method(prototype, "sync", async () => {
    const [temporary] = (await readdir(folder)).filter((name) => name !== "file");
    const written =
      temporary === undefined ? "none" : await readFile(join(folder, temporary), "utf8");
    seen.push(`file: ${await readFile(path, "utf8")}, temporary: ${written}`);
  });

  await writeDurably(path, "new");

  assert.deepEqual(seen, ["file: old, temporary: new", "file: new, temporary: none"]);
  assert.equal(handles(), 0);
});

test("a full disk leaves the old file, and no temporary or open one", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "file");
  await writeFile(path, "old");
  const { prototype, handles } = await watchHandles(folder);
  t.mock.method(prototype, "sync", async () => {
    throw Object.assign(new Error("full"), { code: "ENOSPC" });
  });

  await assert.rejects(writeDurably(path, "new"), { code: "ENOSPC" });
  await assert.rejects(syncFolder(folder), { code: "ENOSPC" });

  assert.equal(await readFile(path, "utf8"), "old");
  assert.deepEqual(await readdir(folder), ["file"]);
  assert.equal(handles(), 0);
});

/** The prototype of file handles, and the number of open files below a folder. */
async function watchHandles(folder: string) {
  const handle = await open(folder, "r");
  await handle.close();
  const targets = () =>
    readdirSync("/proc/self/fd").flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return []; // closed meanwhile
      }
    });
  return {
    prototype: Object.getPrototypeOf(handle) as typeof handle,
    handles: () => targets().filter((target) => target.startsWith(folder)).length,
  };
}

test("sweeping removes only the temporary files of interrupted writes", async (t) => {
  const folder = await emptyFolder(t);
  const kept = [
    "..0123456789ab.tmp",
    ".a.0123456789ab.tmp.txt",
    ".a.0123456789a.tmp",
    ".config.json.tmp",
    ".hidden",
    "config.json",
    "x.0123456789ab.tmp",
    "x.y.0123456789ab.tmp",
  ];
  for (const name of [...kept, ".config.json.0123456789ab.tmp"]) {
    await writeFile(join(folder, name), "");
  }

  await sweepTemporaryFiles(folder);

  assert.deepEqual((await readdir(folder)).toSorted(), kept.toSorted());
});
