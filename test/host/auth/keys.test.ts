import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Keys } from "../../../host/auth/keys.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

test("the key is created at first use, has 32 bytes and is private to its owner", async (t) => {
  const data = await emptyFolder(t);

  const keys = await Keys.open(data, collectedLog());

  const { mode } = await stat(join(data, "keys.json"));
  assert.equal(mode & 0o777, 0o600);
  assert.deepEqual(
    [...keys.ring.values()].map((key) => key.symmetricKeySize),
    [32],
  );
  assert.deepEqual((await readdir(data)).toSorted(), ["keys.json", "keys.json.last-good"]);
});

test("twenty that start at once agree on one key", async (t) => {
  const data = await emptyFolder(t);

  const opened = await Promise.all(
    Array.from({ length: 20 }, () => Keys.open(data, collectedLog())),
  );

  const kids = new Set(opened.flatMap(({ ring }) => [...ring.keys()]));
  assert.equal(kids.size, 1);
  assert.deepEqual((await readdir(data)).toSorted(), ["keys.json", "keys.json.last-good"]);
});

for (const [name, content] of Object.entries({
  "cut off": '{"keys": [{"kid"',
  empty: "",
  "without keys": '{"keys": []}',
  "with a short key": '{"keys": [{"kid": "x", "secret": "YQ"}]}',
})) {
  test(`a key file ${name} without a copy is set aside and replaced, with a log record`, async (t) => {
    const data = await emptyFolder(t);
    const log = collectedLog();
    await writeFile(join(data, "keys.json"), content, { mode: 0o600 });

    const keys = await Keys.open(data, log);

    assert.equal(keys.ring.size, 1);
    const aside = (await readdir(data)).filter((file) => file.startsWith("keys.json.damaged-"));
    assert.equal(aside.length, 1);
    assert.equal(await readFile(join(data, aside[0] ?? ""), "utf8"), content);
    assert.deepEqual(
      log.records.map(({ level }) => level),
      ["error", "error"],
    );
    assert.match(log.records[1]?.sentence ?? "", /all tokens are invalid/);
  });
}

test("damaged keys are restored, so that tokens stay valid", async (t) => {
  const data = await emptyFolder(t);
  const before = await Keys.open(data, collectedLog());
  await before.rotate(new Set(before.ring.keys()));
  const kids = [...before.ring.keys()];
  await rm(join(data, "keys.json"));
  await mkdir(join(data, "keys.json"));

  const keys = await Keys.open(data, collectedLog());

  assert.deepEqual([...keys.ring.keys()], kids);
  assert.equal(kids.length, 2);
});

test("keys that are only unreadable are not replaced", async (t) => {
  const data = await emptyFolder(t);
  await symlink("keys.json", join(data, "keys.json"));

  await assert.rejects(Keys.open(data, collectedLog()), {
    message: /keys\.json cannot be read \(ELOOP\); give the user who runs Mantel access/,
  });

  assert.deepEqual(await readdir(data), ["keys.json"]);
});

test("a key that is removed from the file is forgotten while the host runs", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "keys.json");
  const keys = await Keys.open(data, collectedLog());
  await keys.rotate(new Set(keys.ring.keys()));
  const [newest, oldest] = [...keys.ring.keys()];
  const file = JSON.parse(await readFile(path, "utf8")) as { keys: unknown[] };

  await writeFile(path, JSON.stringify({ keys: file.keys.slice(0, 1) }));

  await until(() => keys.ring.size === 1, { withinMs: 1_000 });
  assert.notEqual(newest, oldest);
  assert.ok(keys.ring.has(newest ?? ""));
});

test("an incomplete edit does not change the keys", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "keys.json");
  const keys = await Keys.open(data, collectedLog());
  const before = keys.ring;
  const whole = await readFile(path, "utf8");

  await writeFile(path, whole.slice(0, 20));
  const lookedAt = performance.now();
  const during = await until(() => performance.now() - lookedAt > 300 && keys.ring);

  assert.equal(during, before);
});
