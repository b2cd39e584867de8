import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { LastUse } from "../../../host/auth/last-use.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

test("the last use is known immediately and survives the process", async (t) => {
  const data = await emptyFolder(t);
  const uses = await LastUse.open(data, collectedLog());
  const before = Math.floor(Date.now() / 1_000) * 1_000;
  uses.note("1");
  const at = uses.at("1");
  await uses.close();

  const later = await LastUse.open(data, collectedLog());

  assert.ok(at !== null && before <= Date.parse(at) && Date.parse(at) <= Date.now());
  assert.deepEqual([later.at("1"), later.at("2")], [at, null]);
  assert.equal((await stat(join(data, "token-use.json"))).mode & 0o777, 0o600);
});

test("ten thousand uses cause one write per hour, and no use causes none", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  const data = await emptyFolder(t);
  const uses = await LastUse.open(data, collectedLog());

  for (let n = 0; n < 10_000; n++) uses.note(String(n % 3));
  t.mock.timers.tick(59 * 60_000);
  const before = await readdir(data);
  t.mock.timers.tick(60_000);
  const written = await until(() => readFile(join(data, "token-use.json"), "utf8"));
  await uses.close();

  assert.deepEqual(before, []);
  assert.equal(Object.keys((JSON.parse(written) as { uses: object }).uses).length, 3);
});

test("recorded uses without a version are migrated, and the old file is kept", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "token-use.json");
  const kept = JSON.stringify({ "1": "2026-11-20T10:00:00.000Z" });
  await writeFile(path, kept);

  const uses = await LastUse.open(data, collectedLog());

  assert.equal(uses.at("1"), "2026-11-20T10:00:00.000Z");
  assert.equal((JSON.parse(await readFile(path, "utf8")) as { version: unknown }).version, 1);
  assert.equal(await readFile(`${path}.before-version-1`, "utf8"), kept);
});

test("uses after a write are written an hour later, or when the host stops", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "token-use.json");
  const uses = await LastUse.open(data, collectedLog());
  uses.note("1");
  await uses.close();
  const first = await readFile(path, "utf8");

  await uses.close();
  const unchanged = await readFile(path, "utf8");
  uses.note("2");
  await uses.close();

  assert.equal(unchanged, first);
  const written = JSON.parse(await readFile(path, "utf8")) as { uses: object };
  assert.deepEqual(Object.keys(written.uses), ["1", "2"]);
});

test("uses that cannot be stored stay known and are logged", async (t) => {
  const data = await emptyFolder(t);
  const log = collectedLog();
  const uses = await LastUse.open(join(data, "absent"), log);

  uses.note("1");
  await uses.close();

  assert.deepEqual(
    log.records.map(({ level, sentence, fields }) => [level, sentence, fields["file"]]),
    [["warn", "could not store the last uses of tokens", "token-use.json"]],
  );
  assert.ok(uses.at("1"));
});

for (const [what, uses] of [
  ["another version", { version: 2, uses: {} }],
  ["a time that is none", { version: 1, uses: { "1": "yesterday" } }],
] as const) {
  test(`a file with ${what} is not used`, async (t) => {
    const data = await emptyFolder(t);
    await writeFile(join(data, "token-use.json"), JSON.stringify(uses));

    const opened = await LastUse.open(data, collectedLog()).catch(() => undefined);

    assert.equal(opened?.at("1") ?? null, null);
  });
}
