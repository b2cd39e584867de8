import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Audit, recordCompleted } from "../../../host/auth/audit.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const ADMIN = { sub: "phone", jti: "1" };

test("records say who did what, in order, in a private file", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(data);

  await Promise.all([
    audit.record(ADMIN, { action: "mqtt.publish", topic: "a/b", bytes: 3 }),
    audit.record(ADMIN, { action: "module.disable", module: "demo" }),
  ]);

  const path = join(data, "audit.log");
  const lines = (await readFile(path, "utf8")).split("\n").filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as { at: string; id: string });
  assert.deepEqual(
    records.map(({ at, id, ...rest }) => (assert.ok(Date.parse(at) && id), rest)),
    [
      { ...ADMIN, action: "mqtt.publish", topic: "a/b", bytes: 3 },
      { ...ADMIN, action: "module.disable", module: "demo" },
    ],
  );
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("log files rotate when full: ten are kept and the oldest is deleted", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(data);

  for (let n = 0; n < 12; n++) {
    await writeFile(join(data, "audit.log"), `${"x".repeat(2 ** 20 - 3)} ${String(n).padStart(2)}`);
    await audit.record(ADMIN, { action: "config.patch" });
  }

  const names = Array.from({ length: 9 }, (_, at) => `audit.log.${at + 1}`);
  assert.deepEqual((await readdir(data)).toSorted(), ["audit.log", ...names]);
  assert.match(await readFile(join(data, "audit.log"), "utf8"), /config\.patch/);
  assert.match(await readFile(join(data, "audit.log.9"), "utf8"), / 3$/);
});

test("records are read newest first, page by page, over the files", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(data);
  for (let n = 0; n < 4; n++) await audit.record(ADMIN, { action: "a", n });
  await appendFile(join(data, "audit.log"), `\n{"id":"cut off","a\n${" ".repeat(2 ** 20)}`);
  for (let n = 4; n < 7; n++) await audit.record(ADMIN, { action: "a", n });

  const pages: unknown[][] = [];
  let before: string | null | undefined;
  while (before !== null && pages.length < 9) {
    const page = await audit.read({ limit: 3, ...(before === undefined ? {} : { before }) });
    pages.push(page.records.map(({ n }) => n));
    before = page.next;
  }
  const gone = await audit.read({ limit: 3, before: "unknown" });

  assert.deepEqual(pages, [[6, 5, 4], [3, 2, 1], [0]]);
  assert.deepEqual(gone, { records: [], next: null });
});

test("recorded data cannot forge a record, its author or its time", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(data);
  const forged = '{"id":"x","at":"2000-01-01T00:00:00.000Z","sub":"king","jti":"0","action":"b"}';
  const breaks = ["\n", "\r\n", "\u2028", "\u0085", "\\n", '"\n'];

  for (const each of breaks) {
    const name = `x${each}${forged}${each}`;
    await audit.record({ ...ADMIN, sub: name }, { action: "a", name, at: "never", jti: "9" });
  }

  const { records } = await audit.read({ limit: 100 });
  assert.equal(records.length, breaks.length);
  for (const { sub, at, jti, action } of records) {
    assert.ok(sub.includes(forged) && Date.parse(at) > Date.parse("2026-01-01"));
    assert.deepEqual([jti, action], ["1", "a"]);
  }
});

test("a record that cannot be written fails for its caller, and the next one can succeed", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(join(data, "absent"));

  await assert.rejects(audit.record(ADMIN, { action: "a" }), { code: "ENOENT" });
  await mkdir(join(data, "absent"));
  await audit.record(ADMIN, { action: "b" });

  assert.match(await readFile(join(data, "absent", "audit.log"), "utf8"), /"action":"b"/);
});

test("a page that holds the last records names no next one", async (t) => {
  const audit = new Audit(await emptyFolder(t));
  for (let n = 0; n < 3; n++) await audit.record(ADMIN, { action: "a", n });

  const [whole, part] = [await audit.read({ limit: 3 }), await audit.read({ limit: 2 })];

  assert.deepEqual([whole.records.length, whole.next], [3, null]);
  assert.deepEqual([part.records.length, part.next], [2, part.records[1]?.id]);
});

test("lines that are not records are skipped", async (t) => {
  const data = await emptyFolder(t);
  const lines = ["null", "5", '"x"', "[]", '{"action":"a"}', '{"id":1}', '{"id":"x","action":"b"}'];
  await writeFile(join(data, "audit.log"), lines.join("\n"));

  const { records } = await new Audit(data).read({ limit: 10 });

  assert.deepEqual(
    records.map(({ id, action }) => [id, action]),
    [["x", "b"]],
  );
});

test("a record is refused while the files cannot rotate, so that none grows without limit", async (t) => {
  const data = await emptyFolder(t);
  const full = "x".repeat(2 ** 20);
  await writeFile(join(data, "audit.log"), full);
  await writeFile(join(data, "audit.log.8"), "");
  await mkdir(join(data, "audit.log.9", "in the way"), { recursive: true });

  await assert.rejects(new Audit(data).record(ADMIN, { action: "a" }), { code: "EISDIR" });

  assert.equal(await readFile(join(data, "audit.log"), "utf8"), full);
});

test("closing waits for the records that are being written", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(data);

  const recording = audit.record(ADMIN, { action: "last" });
  await audit.close();

  assert.match(await readFile(join(data, "audit.log"), "utf8"), /"action":"last"/);
  await recording;
});

test("a completed action is recorded, and does not fail if that is impossible: the log has it", async (t) => {
  const data = await emptyFolder(t);
  const log = collectedLog();
  const record = { action: "mqtt.publish", topic: "a/b" };

  await recordCompleted({ audit: new Audit(data), log }, ADMIN, record);
  await recordCompleted({ audit: new Audit(join(data, "absent")), log }, ADMIN, record);

  assert.match(await readFile(join(data, "audit.log"), "utf8"), /"topic":"a\/b"/);
  const [said, ...more] = log.records;
  const { error, ...fields } = said?.fields ?? {};
  assert.deepEqual([said?.level, said?.sentence], ["error", "could not store an audit record"]);
  assert.deepEqual(fields, { sub: "phone", ...record });
  assert.equal((error as { code?: string }).code, "ENOENT");
  assert.equal(more.length, 0);
});
