import assert from "node:assert/strict";
import {
  mkdir,
  open as openFile,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { Type } from "typebox";
import { check } from "../../host/validate.ts";
import { asDiskFault, DocumentFile, readText, writeFully } from "../../plugin-sdk/document-file.ts";
import type { Versions } from "../../plugin-sdk/document-version.ts";
import { MantelError } from "../../plugin-sdk/errors.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { emptyFolder } from "../helpers/folder.ts";

const Counter = Type.Object({ count: Type.Integer(), padding: Type.Optional(Type.String()) });

async function counterFile(t: TestContext) {
  const path = join(await emptyFolder(t), "counter.json");
  const log = collectedLog();
  const parse = (value: unknown) => check(Counter, value, "the counter");
  const openAs = (versions: Partial<Versions>) =>
    new DocumentFile({ path, parse, log, ...versions });
  const open = () => openAs({});
  return { path, log, open, openAs, file: open() };
}

/** From now on each write fails as on a full disk. */
async function failWrites(t: TestContext) {
  const handle = await openFile(import.meta.dirname, "r");
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  return t.mock.method(prototype, "writeFile", async () => {
    throw Object.assign(new Error("full"), { code: "ENOSPC" });
  });
}

const damagedIn = async (path: string) =>
  (await readdir(join(path, ".."))).filter((name) => name.includes(".damaged-"));

test("a written document can be loaded, and only its owner can read the file", async (t) => {
  const { file, path, open } = await counterFile(t);

  await file.write({ count: 1 });

  assert.deepEqual(await open().load(), { count: 1 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a document is indented, and its last good copy is equal", async (t) => {
  const { file, path } = await counterFile(t);

  await file.write({ count: 1 });

  const text = '{\n  "count": 1\n}\n';
  assert.equal(await readFile(path, "utf8"), text);
  assert.equal(await readFile(`${path}.last-good`, "utf8"), text);
});

test("a last good copy with the same content is not written again", async (t) => {
  const { file, path, open } = await counterFile(t);
  await file.write({ count: 1 });
  const { ino } = await stat(`${path}.last-good`);

  await open().load();
  await file.write({ count: 1 });

  assert.equal((await stat(`${path}.last-good`)).ino, ino);
});

test("a last good copy that cannot be saved is a warning", async (t) => {
  const { file, path, log } = await counterFile(t);
  await mkdir(`${path}.last-good`);

  await file.write({ count: 1 });

  assert.deepEqual(await file.load(), { count: 1 });
  assert.equal(log.records.length, 2);
  const [{ level, sentence, fields } = assert.fail()] = log.records;
  assert.deepEqual([level, sentence], ["warn", "could not save the last good copy"]);
  assert.equal(fields["file"], `${path}.last-good`);
  assert.ok(fields["error"] instanceof Error);
});

test("a damaged document is logged with its new name and the damage", async (t) => {
  const { path, open, log } = await counterFile(t);
  await writeFile(path, '{"count":"many"}');

  await open().load();

  const [{ level, sentence, fields } = assert.fail()] = log.records;
  assert.deepEqual([level, sentence], ["error", "damaged document set aside"]);
  const { file, keptAs, used, damage, faults } = fields;
  assert.deepEqual([file, used], [path, "the defaults"]);
  assert.match(String(keptAs), /counter\.json\.damaged-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
  assert.equal(await readFile(String(keptAs), "utf8"), '{"count":"many"}');
  assert.match(String(damage), /^the counter/);
  assert.equal((faults as { pointer: string }[])[0]?.pointer, "/count");
});

test("a file set aside keeps its content under another name", async (t) => {
  const { file, path } = await counterFile(t);
  await file.write({ count: 1 });

  const keptAs = await file.setAside();

  assert.deepEqual(JSON.parse(await readFile(keptAs, "utf8")), { count: 1 });
  assert.deepEqual(await damagedIn(path), [basename(keptAs)]);
  assert.equal(await file.read(), undefined);
});

test("reading a damaged document throws and changes nothing", async (t) => {
  const { file, path, log } = await counterFile(t);
  await file.write({ count: 1 });
  await writeFile(path, "{");

  await assert.rejects(file.read(), { code: "invalid" });

  assert.equal(await readFile(path, "utf8"), "{");
  assert.equal(await file.isEdited(), true);
  assert.deepEqual(log.records, []);
});

test("reading gives the document, and undefined without a file", async (t) => {
  const { file, open } = await counterFile(t);
  const missing = [await file.read(), await file.isEdited()];
  await file.write({ count: 1 });

  assert.deepEqual(missing, [undefined, false]);
  assert.deepEqual(await open().read(), { count: 1 });
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
  const [{ sentence, fields } = assert.fail()] = log.records;
  assert.equal(sentence, "the last good copy is damaged too");
  assert.equal(fields["file"], `${path}.last-good`);
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

test("a missing text is undefined, and other failures name the file and the remedy", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "text"), "ünïcödé");
  await symlink("loop", join(folder, "loop"));

  assert.equal(await readText(join(folder, "text")), "ünïcödé");
  assert.equal(await readText(join(folder, "absent")), undefined);
  await assert.rejects(readText(folder), (error: MantelError) => {
    assert.equal(error.code, "invalid");
    assert.equal(error.message, `${basename(folder)} is not a readable file (EISDIR)`);
    assert.equal((error.cause as NodeJS.ErrnoException).code, "EISDIR");
    return true;
  });
  const path = join(folder, "loop");
  await assert.rejects(readText(path), (error: Error) => {
    assert.ok(!(error instanceof MantelError));
    const todo = "give the user who runs Mantel access to it";
    assert.equal(error.message, `${path} cannot be read (ELOOP); ${todo}`);
    assert.equal((error.cause as NodeJS.ErrnoException).code, "ELOOP");
    return true;
  });
});

for (const [systemCode, code, message] of [
  ["ENOSPC", "disk_full", "the disk is full; counter.json was not changed"],
  ["EDQUOT", "disk_full", "the disk is full; counter.json was not changed"],
  ["EFBIG", "disk_full", "the disk is full; counter.json was not changed"],
  ["EROFS", "disk_read_only", "the disk is not writable (EROFS); counter.json was not changed"],
  ["EIO", "disk_read_only", "the disk is not writable (EIO); counter.json was not changed"],
] as const) {
  test(`the disk's ${systemCode} is reported without the path`, () => {
    const cause = Object.assign(new Error(systemCode), { code: systemCode });

    const fault = asDiskFault(cause, "/home/somebody/counter.json") as MantelError;

    assert.deepEqual([fault.code, fault.message, fault.cause], [code, message, cause]);
  });
}

test("a write reports the disk's fault, and any other error as it is", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "counter.json");
  await writeFully(path, "old");
  const failing = await failWrites(t);

  await assert.rejects(writeFully(path, "new"), { code: "disk_full" });
  failing.mock.restore();

  assert.equal(await readFile(path, "utf8"), "old");
  await assert.rejects(writeFully(join(folder, "none/file"), ""), { code: "ENOENT" });
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

test("a migration is logged with the new version and the name of the old file", async (t) => {
  const { path, openAs, log } = await counterFile(t);
  await writeFile(path, "5");

  await openAs(VERSIONS).load();

  assert.deepEqual(log.records, [
    {
      level: "info",
      sentence: "migrated a document to a newer version",
      fields: { file: path, version: 2, keptAs: `${path}.before-version-2` },
    },
  ]);
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { version: 2, count: 5 });
});

test("a full disk during a migration leaves the old document in place", async (t) => {
  const { path, openAs, log } = await counterFile(t);
  await writeFile(path, "5");
  const failing = await failWrites(t);

  await assert.rejects(openAs(VERSIONS).load(), { code: "disk_full" });
  failing.mock.restore();

  assert.deepEqual(await readdir(join(path, "..")), ["counter.json"]);
  assert.equal(await readFile(path, "utf8"), "5");
  assert.deepEqual(log.records, []);
});

test("a last good copy of an older version is migrated when it is used", async (t) => {
  const { path, openAs } = await counterFile(t);
  await writeFile(path, "{");
  await writeFile(`${path}.last-good`, "5");

  assert.equal((await openAs(VERSIONS).load())?.count, 5);

  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { version: 2, count: 5 });
});

test("a last good copy of a newer version is refused, and the damaged file stays", async (t) => {
  const { path, openAs, log } = await counterFile(t);
  await writeFile(path, "{");
  await writeFile(`${path}.last-good`, '{"version":3}');

  await assert.rejects(openAs(VERSIONS).load(), /counter\.json\.last-good has version 3/);

  assert.equal(await readFile(path, "utf8"), "{");
  assert.deepEqual(log.records, []);
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
