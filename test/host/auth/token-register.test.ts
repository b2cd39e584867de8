import assert from "node:assert/strict";
import { appendFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { TokenRegister } from "../../../host/auth/token-register.ts";
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

    const { issued, revoked } = (await TokenRegister.open(data, collectedLog())).records;

    assert.deepEqual([issued.length, [...revoked]], [1, ["1"]]);
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
