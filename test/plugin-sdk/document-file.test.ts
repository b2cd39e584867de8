import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Type } from "typebox";
import { check } from "../../host/validate.ts";
import { DocumentFile } from "../../plugin-sdk/document-file.ts";
import type { Versions } from "../../plugin-sdk/document-version.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { emptyFolder } from "../helpers/folder.ts";

const Counter = Type.Object({ count: Type.Integer(), padding: Type.Optional(Type.String()) });

async function counterFile(t: TestContext, folder?: string) {
  const path = join(folder ?? (await emptyFolder(t)), "counter.json");
  const log = collectedLog();
  const parse = (value: unknown) => check(Counter, value, "the counter");
  const openAs = (versions: Partial<Versions>) =>
    new DocumentFile({ path, parse, log, ...versions });
  const open = () => openAs({});
  return { path, log, open, openAs, file: open() };
}

const damagedIn = async (path: string) =>
  (await readdir(join(path, ".."))).filter((name) => name.includes(".damaged-"));

test("a written document can be loaded, and only its owner can read the file", async (t) => {
  const { file, path, open } = await counterFile(t);

  await file.write({ count: 1 });

  assert.deepEqual(await open().load(), { count: 1 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a missing file is neither a document nor damage", async (t) => {
  const { file, log } = await counterFile(t);

  assert.equal(await file.load(), undefined);
  assert.deepEqual(log.records, []);
});

for (const [what, text] of [
  ["is empty", ""],
  ["is cut off", '{"count":'],
  ["is of another shape", '{"count":"many"}'],
  ["is binary", "\u0000\u0000\u0000"],
] as const) {
  test(`a file that ${what} is set aside and its last good copy is used`, async (t) => {
    const { file, path, open, log } = await counterFile(t);
    await file.write({ count: 41 });
    await file.write({ count: 42 });
    await writeFile(path, text);

    const restored = await open().load();

    assert.deepEqual(restored, { count: 42 });
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { count: 42 });
    const [keptAs = ""] = await damagedIn(path);
    assert.equal(await readFile(join(path, "..", keptAs), "utf8"), text);
    assert.equal(log.records[0]?.level, "error");
    assert.equal(log.records[0]?.fields["used"], "the last good copy");
  });
}

test("if the copy is damaged too, both are logged and no document is loaded", async (t) => {
  const { path, open, log } = await counterFile(t);
  await writeFile(path, "{");
  await writeFile(`${path}.last-good`, "{");

  assert.equal(await open().load(), undefined);

  assert.deepEqual(
    log.records.map(({ level }) => level),
    ["warn", "error"],
  );
  assert.equal((await damagedIn(path)).length, 1);
});

test("a document edited while the program was stopped becomes the last good one", async (t) => {
  const { file, path, open } = await counterFile(t);
  await file.write({ count: 1 });
  await writeFile(path, '{ "count": 2 }');

  await open().load();
  await writeFile(path, "broken");

  assert.deepEqual(await open().load(), { count: 2 });
});

test("an edit is detected, and an empty file does not count as an edit", async (t) => {
  const { file, path } = await counterFile(t);
  await file.write({ count: 1 });
  assert.equal(await file.isEdited(), false);

  await writeFile(path, "\n");
  assert.equal(await file.isEdited(), false);

  await writeFile(path, '{"count":2}');
  assert.equal(await file.isEdited(), true);
  await file.read();
  assert.equal(await file.isEdited(), false);
});

test("an unreadable file is reported with its path and not changed", async (t) => {
  const { path, file } = await counterFile(t);
  await symlink(path, path);

  await assert.rejects(file.load(), /counter\.json cannot be read \(ELOOP\); give the user/);

  assert.deepEqual(await damagedIn(path), []);
});

test("a folder in place of the file is set aside and the last good copy is used", async (t) => {
  const { file, path, open } = await counterFile(t);
  await file.write({ count: 1 });
  await rm(path);
  await mkdir(path);

  assert.deepEqual(await open().load(), { count: 1 });
  assert.equal((await damagedIn(path)).length, 1);
});

test("concurrent writes run in order", async (t) => {
  const { file, open } = await counterFile(t);

  await Promise.all(Array.from({ length: 20 }, (_, count) => file.write({ count })));

  assert.deepEqual(await open().load(), { count: 19 });
});

const VERSIONS = {
  version: 2,
  migrations: {
    0: (count: unknown) => ({ version: 1, many: count }),
    1: (old: unknown) => ({ version: 2, count: (old as { many: unknown }).many }),
  },
};

for (const [what, content] of [
  ["without a version", 5],
  ["of version 1", { version: 1, many: 5 }],
  ["of version 2", { version: 2, count: 5 }],
] as const) {
  test(`a document ${what} is migrated to the newest version and saved`, async (t) => {
    const { path, openAs } = await counterFile(t);
    await writeFile(path, JSON.stringify(content));

    assert.equal((await openAs(VERSIONS).load())?.count, 5);
    assert.equal((await openAs({ version: 2 }).load())?.count, 5);
  });
}

test("the document before a migration is kept, and damage restores the migrated one", async (t) => {
  const { path, openAs, log } = await counterFile(t);
  await writeFile(path, "5");
  await openAs(VERSIONS).load();
  await writeFile(path, "{");

  assert.equal((await openAs(VERSIONS).load())?.count, 5);

  assert.equal(await readFile(`${path}.before-version-2`, "utf8"), "5");
  assert.equal(log.records[0]?.sentence, "migrated a document to a newer version");
});

test("an invalid result of a migration is treated as damage", async (t) => {
  const { path, openAs } = await counterFile(t);
  await writeFile(path, '"many"');

  assert.equal(await openAs(VERSIONS).load(), undefined);

  assert.equal((await damagedIn(path)).length, 1);
});

test("a document of a newer version is refused with advice and not changed", async (t) => {
  const { path, openAs } = await counterFile(t);
  const newer = '{"version":3,"counts":[5]}';
  await writeFile(path, newer);

  await assert.rejects(
    openAs(VERSIONS).load(),
    /counter\.json has version 3, but this Mantel supports versions up to 2; start the newer Mantel/,
  );

  assert.equal(await readFile(path, "utf8"), newer);
  assert.deepEqual(await readdir(join(path, "..")), ["counter.json"]);
});

test("a full disk is reported, and the old document stays intact", async (t) => {
  const folder = await smallDisk(t);
  if (folder === undefined) return t.skip("a disk of 64 KiB cannot be mounted here");
  const { file, open } = await counterFile(t, folder);
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
