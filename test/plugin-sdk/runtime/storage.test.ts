import assert from "node:assert/strict";
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createStorage, refuseStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

async function openStorage(t: TestContext) {
  const folder = join(await emptyFolder(t), "plugins", "garden-bridge");
  const log = collectedLog();
  return { folder, log, storage: createStorage(folder, log) };
}

test("a stored value is available after a restart", async (t) => {
  const { folder, log, storage } = await openStorage(t);
  const pairing = { key: "abc", lamps: [1, 2], since: null };

  await storage.set("pairing", pairing);

  assert.deepEqual(await createStorage(folder, log).get("pairing"), pairing);
  assert.equal(await storage.get("something-else"), undefined);
});

test("the first value creates the folder, which only its owner can read", async (t) => {
  const { folder, storage } = await openStorage(t);
  assert.equal(await storage.get("pairing"), undefined);
  await assert.rejects(stat(folder), { code: "ENOENT" });

  await storage.set("pairing", 1);

  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.equal((await stat(join(folder, "pairing.json"))).mode & 0o777, 0o600);
});

test("a deleted value is absent, and deleting it again succeeds", async (t) => {
  const { folder, storage } = await openStorage(t);
  await storage.set("pairing", 1);

  await storage.delete("pairing");
  await storage.delete("pairing");

  assert.equal(await storage.get("pairing"), undefined);
  assert.deepEqual(await readdir(folder), []);
});

test("concurrent operations run in the order of the calls", async (t) => {
  const { storage } = await openStorage(t);

  const read: unknown[] = [];
  await Promise.all([
    storage.set("count", 1),
    storage.get("count").then((value) => read.push(value)),
    storage.set("count", 2),
    storage.get("count").then((value) => read.push(value)),
    storage.delete("count"),
    storage.get("count").then((value) => read.push(value)),
  ]);

  assert.deepEqual(read, [1, 2, undefined]);
});

test("a damaged value is set aside and restored, with a log record", async (t) => {
  const { folder, log, storage } = await openStorage(t);
  await storage.set("pairing", { key: "abc" });
  await writeFile(join(folder, "pairing.json"), '{"key": "ab');

  assert.deepEqual(await storage.get("pairing"), { key: "abc" });

  const [aside = ""] = (await readdir(folder)).filter((name) => name.includes(".damaged-"));
  assert.equal(await readFile(join(folder, aside), "utf8"), '{"key": "ab');
  assert.deepEqual(
    log.records.map(({ level, fields }) => [level, fields["used"]]),
    [["error", "the last good copy"]],
  );
});

test("a field named version in a value has no special meaning", async (t) => {
  const { storage } = await openStorage(t);

  await storage.set("pairing", { version: 7 });

  assert.deepEqual(await storage.get("pairing"), { version: 7 });
});

test("temporary files of an interrupted write are removed, and that of a write under way is not", async (t) => {
  const { folder, log, storage } = await openStorage(t);
  await storage.set("pairing", 1);
  const interrupted = join(folder, ".pairing.json.0123456789ab.tmp");
  await writeFile(interrupted, "cut of");
  const minutesAgo = new Date(Date.now() - 120_000);
  await utimes(interrupted, minutesAgo, minutesAgo);
  const underWay = ".other.json.0123456789ab.tmp"; // of the process before, which ends meanwhile
  await writeFile(join(folder, underWay), "half");

  await createStorage(folder, log).set("pairing", 2);

  const left = (await readdir(folder)).toSorted();
  assert.deepEqual(left, [underWay, "pairing.json", "pairing.json.last-good"]);
});

for (const key of ["", "../secrets", "a/b", "Key", "a.b", "a".repeat(61), "__proto__"]) {
  test(`${JSON.stringify(key)} is refused as a key by every operation`, async (t) => {
    const { folder, storage } = await openStorage(t);

    for (const asked of [
      () => storage.get(key),
      () => storage.set(key, 1),
      () => storage.delete(key),
    ]) {
      await assert.rejects(asked, {
        code: "invalid",
        message: /invalid storage key .*: use 1 to 60 of a-z/,
      });
    }
    await assert.rejects(stat(folder), { code: "ENOENT" });
  });
}

test("a value that is not plain data is refused, and later values are stored", async (t) => {
  const { storage } = await openStorage(t);
  await storage.set("pairing", 1);

  await assert.rejects(storage.set("pairing", { big: 1n }), TypeError);

  assert.equal(await storage.get("pairing"), 1);
});

test("errors of the file system reach the caller", async (t) => {
  const { folder, storage } = await openStorage(t);
  await storage.set("other", 1);
  await writeFile(join(folder, "..", "file"), "");

  const inFile = createStorage(join(folder, "..", "file"), collectedLog());

  await assert.rejects(inFile.set("pairing", 1), { code: "EEXIST" });
  await assert.rejects(inFile.get("pairing"), /cannot be read \(ENOTDIR\)/);
});

test("while the plugin has too much on the disk values are refused with the reason, and not lost", async (t) => {
  const { storage } = await openStorage(t);
  await storage.set("lamp", 1);
  t.after(() => refuseStorage(undefined));

  refuseStorage("the plugin uses more than 256 MiB");
  await assert.rejects(storage.set("lamp", 2), {
    code: "disk_full",
    message: "the plugin uses more than 256 MiB",
  });
  assert.equal(await storage.get("lamp"), 1);

  refuseStorage(undefined);
  await storage.set("lamp", 3);
  assert.equal(await storage.get("lamp"), 3);
});
