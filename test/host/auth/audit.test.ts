import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Audit } from "../../../host/auth/audit.ts";
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
  const records = lines.map((line) => JSON.parse(line) as { at: string });
  assert.deepEqual(
    records.map(({ at, ...rest }) => (assert.ok(Date.parse(at)), rest)),
    [
      { ...ADMIN, action: "mqtt.publish", topic: "a/b", bytes: 3 },
      { ...ADMIN, action: "module.disable", module: "demo" },
    ],
  );
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a full file makes room and is kept once", async (t) => {
  const data = await emptyFolder(t);
  await writeFile(join(data, "audit.log"), "x".repeat(10 * 2 ** 20 + 1));

  await new Audit(data).record(ADMIN, { action: "config.patch" });

  assert.deepEqual((await readdir(data)).toSorted(), ["audit.log", "audit.log.1"]);
  assert.match(await readFile(join(data, "audit.log"), "utf8"), /config\.patch/);
});

test("a record that cannot be kept is the caller's failure, and the next may go well", async (t) => {
  const data = await emptyFolder(t);
  const audit = new Audit(join(data, "absent"));

  await assert.rejects(audit.record(ADMIN, { action: "a" }), { code: "ENOENT" });
  await mkdir(join(data, "absent"));
  await audit.record(ADMIN, { action: "b" });

  assert.match(await readFile(join(data, "absent", "audit.log"), "utf8"), /"action":"b"/);
});
