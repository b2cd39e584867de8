import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isRegisterLine, statusOf, TokenRegister } from "../../../host/auth/token-register.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const ISSUED = {
  name: "tablet",
  jti: "1",
  scope: ["read" as const],
  issuedAt: "2026-11-20T09:00:00.000Z",
  expiresAt: "2027-11-20T09:00:00.000Z",
};

test("records survive the process and keep their order", async (t) => {
  const data = await emptyFolder(t);
  const register = await TokenRegister.open(data, collectedLog());
  await register.addIssued(ISSUED);
  await register.addIssued({ ...ISSUED, jti: "2" });
  await register.addRevoked("1");

  const { issued, revoked } = (await TokenRegister.open(data, collectedLog())).records;

  assert.deepEqual(
    issued.map(({ jti, revokedAt }) => [jti, revokedAt !== null]),
    [
      ["1", true],
      ["2", false],
    ],
  );
  assert.deepEqual([...revoked], ["1"]);
  assert.equal((await stat(join(data, "tokens.jsonl"))).mode & 0o777, 0o600);
});

test("many writers at once lose no record", async (t) => {
  const data = await emptyFolder(t);
  const registers = await Promise.all(
    Array.from({ length: 5 }, () => TokenRegister.open(data, collectedLog())),
  );

  await Promise.all(
    registers.flatMap((register, writer) =>
      Array.from({ length: 20 }, (_, n) =>
        register.addIssued({ ...ISSUED, jti: `${writer}-${n}` }),
      ),
    ),
  );

  const { issued } = (await TokenRegister.open(data, collectedLog())).records;
  assert.equal(new Set(issued.map(({ jti }) => jti)).size, 100);
});

test("a record truncated by a crash is skipped and reported, and the others are read", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "tokens.jsonl");
  await (await TokenRegister.open(data, collectedLog())).addIssued(ISSUED);
  const log = collectedLog();
  await appendFile(path, '\n{"issued":{"name":"cut');
  await (await TokenRegister.open(data, log)).addRevoked("1");

  const { issued, revoked } = (await TokenRegister.open(data, log)).records;

  assert.deepEqual([issued.length, [...revoked]], [1, ["1"]]);
  assert.deepEqual(
    log.records.map(({ fields }) => fields["damaged"]),
    [1],
  );
});

test("a line that is damaged while the host runs is skipped, with a log record", async (t) => {
  const data = await emptyFolder(t);
  const log = collectedLog();
  const register = await TokenRegister.open(data, log);
  await register.addIssued(ISSUED);

  await appendFile(join(data, "tokens.jsonl"), '\n{"issued":{"name":"cut\nnull\n');
  register.look();

  assert.deepEqual([...register.records.byId.keys()], ["1"]);
  assert.deepEqual(
    log.records.map(({ level, sentence, fields }) => [level, sentence, fields]),
    [["warn", "the token register has damaged lines; they are skipped", { damaged: 2 }]],
  );
});

for (const [what, content] of [
  ["empty", ""],
  ["cut off", '\n{"issued":{"name":"tab'],
  ["zero-filled", "\u0000".repeat(300)],
] as const) {
  test(`a token stays revoked when the register is ${what}, which is set aside`, async (t) => {
    const data = await emptyFolder(t);
    const path = join(data, "tokens.jsonl");
    const register = await TokenRegister.open(data, collectedLog());
    await register.addIssued(ISSUED);
    await register.addRevoked("1");
    await writeFile(path, content);

    const log = collectedLog();
    const { issued, revoked } = (await TokenRegister.open(data, log)).records;

    assert.deepEqual([issued.length, [...revoked]], [1, ["1"]]);
    assert.equal(log.records[0]?.fields["restored"], 2);
    const [aside = ""] = (await readdir(data)).filter((name) => name.includes(".damaged-"));
    assert.equal(await readFile(join(data, aside), "utf8"), content);
  });
}

test("revocations survive if the register is deleted while the host runs", async (t) => {
  const data = await emptyFolder(t);
  const register = await TokenRegister.open(data, collectedLog());
  await register.addRevoked("stolen");

  await rm(join(data, "tokens.jsonl"));
  register.look();

  assert.ok(register.records.revoked.has("stolen"));
});

test("a missing register is restored", async (t) => {
  const data = await emptyFolder(t);
  const register = await TokenRegister.open(data, collectedLog());
  await register.addRevoked("1");
  await rm(join(data, "tokens.jsonl"));

  const { revoked } = (await TokenRegister.open(data, collectedLog())).records;

  assert.deepEqual([...revoked], ["1"]);
});

test("a folder in the place of the register is set aside, and the register restored", async (t) => {
  const data = await emptyFolder(t);
  const path = join(data, "tokens.jsonl");
  const register = await TokenRegister.open(data, collectedLog());
  await register.addIssued(ISSUED);
  await register.addRevoked("1");
  await rm(path);
  await mkdir(path);
  const log = collectedLog();

  const { issued, revoked } = (await TokenRegister.open(data, log)).records;

  assert.deepEqual([issued.length, [...revoked]], [1, ["1"]]);
  const [said, ...more] = log.records;
  const { keptAs, ...fields } = said?.fields ?? {};
  assert.deepEqual(
    [said?.level, said?.sentence, fields],
    ["error", "a damaged register was set aside and restored", { damaged: 1, restored: 2 }],
  );
  assert.match(String(keptAs), /tokens\.jsonl\.damaged-\d{4}-\d\d-\d\dT[\d.-]+Z$/);
  assert.ok((await stat(String(keptAs))).isDirectory());
  assert.equal(more.length, 0);
});

test("a whole register is left as it is, without a log record", async (t) => {
  const data = await emptyFolder(t);
  await (await TokenRegister.open(data, collectedLog())).addIssued(ISSUED);
  const before = await readFile(join(data, "tokens.jsonl"), "utf8");
  const log = collectedLog();

  await TokenRegister.open(data, log);

  assert.equal(await readFile(join(data, "tokens.jsonl"), "utf8"), before);
  assert.deepEqual((await readdir(data)).toSorted(), ["tokens.jsonl", "tokens.jsonl.last-good"]);
  assert.equal(log.records.length, 0);
});

for (const [what, damage] of [
  ["missing", (copy: string) => rm(copy)],
  ["cut off", (copy: string) => writeFile(copy, '{"issued":{"na')],
] as const) {
  test(`a copy that is ${what} is completed from the register`, async (t) => {
    const data = await emptyFolder(t);
    const [path, copy] = [join(data, "tokens.jsonl"), join(data, "tokens.jsonl.last-good")];
    const register = await TokenRegister.open(data, collectedLog());
    await register.addIssued(ISSUED);
    await register.addRevoked("1");
    await damage(copy);
    const log = collectedLog();

    await TokenRegister.open(data, log);
    await rm(path);

    const { issued, revoked } = (await TokenRegister.open(data, collectedLog())).records;
    assert.deepEqual([issued.length, [...revoked]], [1, ["1"]]);
    assert.equal(log.records.length, 0);
  });
}

test("a record is stored although its copy cannot be", async (t) => {
  const data = await emptyFolder(t);
  const register = await TokenRegister.open(data, collectedLog());
  await mkdir(join(data, "tokens.jsonl.last-good"));

  await register.addIssued(ISSUED);

  assert.equal(register.records.byId.get("1")?.name, "tablet");
});

for (const [what, line] of [
  ["a record without a name", { issued: { ...ISSUED, name: undefined } }],
  ["a record without an end", { issued: { ...ISSUED, expiresAt: undefined } }],
  ["a time that is none", { issued: { ...ISSUED, issuedAt: "yesterday" } }],
  ["an unknown scope", { issued: { ...ISSUED, scope: ["root"] } }],
  ["a revocation of nothing", { revoked: { revokedAt: ISSUED.issuedAt } }],
  ["a revocation without a time", { revoked: { jti: "1" } }],
  ["neither a record nor a revocation", {}],
] as const) {
  test(`a line with ${what} is damaged`, () => {
    assert.equal(isRegisterLine(JSON.stringify(line)), false);
    assert.equal(isRegisterLine(JSON.stringify({ issued: ISSUED })), true);
  });
}

test("a token has expired after the instant of its end", (t) => {
  const record = { ...ISSUED, issuedScope: ISSUED.scope, revokedAt: null };
  const endsAt = Date.parse(ISSUED.expiresAt);
  t.mock.timers.enable({ apis: ["Date"], now: endsAt });

  const atItsEnd = statusOf(record);
  t.mock.timers.tick(1);

  assert.deepEqual([atItsEnd, statusOf(record)], ["valid", "expired"]);
  assert.equal(statusOf({ ...record, revokedAt: ISSUED.issuedAt }), "revoked");
});

test("the last change of rights holds, in whatever order the lines are and whatever the clock said", async (t) => {
  const data = await emptyFolder(t);
  const line = (change: number, scope: string, changedAt: string) =>
    JSON.stringify({ rights: { jti: "1", change, scope: [scope], readOnlyPaths: [], changedAt } });
  const lines = [
    line(2, "read", "2026-11-20T09:00:00.000Z"),
    line(1, "admin", "2026-11-21T09:00:00.000Z"),
    JSON.stringify({ issued: ISSUED }),
  ];
  await writeFile(join(data, "tokens.jsonl"), `${lines.join("\n")}\n`);

  const register = await TokenRegister.open(data, collectedLog());
  const [before] = register.records.issued;
  assert.deepEqual([before?.scope, before?.change], [["read"], 2]);
  assert.ok(before);
  await register.addRights(before, { readOnlyPaths: ["automations"] });
  const [after] = register.records.issued;

  assert.deepEqual(
    [after?.scope, after?.readOnlyPaths, after?.change],
    [["read"], ["automations"], 3],
  );
});
