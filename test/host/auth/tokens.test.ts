import assert from "node:assert/strict";
import {
  appendFile,
  chmod,
  mkdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import jwt from "jsonwebtoken";
import { Tokens } from "../../../host/auth/tokens.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { forgeries, readSigningKey, signedWith } from "../../helpers/forgeries.ts";
import { until } from "../../helpers/until.ts";

const UNAUTHORIZED = { code: "unauthorized" };

test("an issued token represents its name and scopes", async (t) => {
  const { tokens } = await openTokens(t);

  const token = await tokens.issue({
    name: "wall tablet",
    scope: ["read", "control"],
    ttlSeconds: 60,
  });
  const principal = tokens.verify(token);

  assert.equal(principal.sub, "wall tablet");
  assert.deepEqual(principal.scope, ["read", "control"]);
  assert.equal(tokens.verify(token), principal, "the second time comes from memory");
});

test("a token with any forged part is refused", async (t) => {
  const { tokens, data } = await openTokens(t);
  const genuine = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  const signing = await readSigningKey(data);
  const forged = Object.entries(forgeries(signing, genuine));

  const accepted = forged.filter(([, token]) => isAccepted(tokens, token));

  assert.deepEqual(accepted, []);
  assert.ok(forged.length >= 45);
  assert.ok(
    isAccepted(tokens, signedWith(signing, claimsOf(genuine))),
    "the forgeries differ from a good token only in what they name",
  );
});

test("a token that a leaked key signed is refused unless it is on record word for word", async (t) => {
  const { tokens, data } = await openTokens(t);
  const genuine = await tokens.issue({ name: "guest", scope: ["read"], ttlSeconds: 60 });
  await tokens.rotateKey({ drop: false });
  const own = claimsOf(genuine);
  const { kid } = jwt.decode(genuine, { complete: true })?.header ?? {};
  const keys = [await readSigningKey(data), await readSigningKey(data, kid)];

  const accepted = keys.flatMap((key, at) =>
    Object.entries({
      "an unknown jti": signedWith(key),
      "an unknown jti of a display": signedWith(key, { display: true }),
      "a known jti with more scopes": signedWith(key, { ...own, scope: ["admin"] }),
      "a known jti with another name": signedWith(key, { ...own, sub: "admin" }),
      "a known jti that lives longer": signedWith(key, { ...own, exp: own.exp + 3_600 }),
      "a known jti that lives for ever": signedWith(key, { ...own, exp: 1e300 }),
      "a known jti as a display": signedWith(key, { ...own, display: true }),
      ...(at === 0 ? { "a known jti under another key": signedWith(key, own) } : {}),
    }).flatMap(([what, token]) => (isAccepted(tokens, token) ? [what] : [])),
  );

  assert.deepEqual(accepted, []);
  assert.ok(isAccepted(tokens, genuine));
});

test("the refusal of a token tells why", async (t) => {
  const { tokens, data } = await openTokens(t);
  const genuine = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  const { exp: _exp, ...endless } = claimsOf(genuine);
  const key = await readSigningKey(data);
  const foreign = { ...key, kid: "nobody" };
  const past = Math.floor(Date.now() / 1000) - 31;

  const reasons = {
    "the token was not signed by a key of this host": ["", "abc", signedWith(foreign)],
    "the token is not valid here": [
      signedWith(key, { iss: "somebody" }),
      jwt.sign("text", key.secret, { keyid: key.kid }),
      `${genuine}x`,
    ],
    "the token lacks a required claim": [
      jwt.sign(endless, key.secret, { keyid: key.kid }),
      signedWith(key, { scope: "admin" }),
      signedWith(key, { scope: [] }),
      signedWith(key, { display: "yes" }),
      signedWith(key, { sub: "" }),
      signedWith(key, { jti: "" }),
    ],
    "the token has expired": [signedWith(key, { exp: past })],
    "the token is not in the register; make a new one with the token command": [signedWith(key)],
  };

  for (const [message, refused] of Object.entries(reasons)) {
    for (const token of refused) {
      assert.throws(() => tokens.verify(token), { code: "unauthorized", message });
    }
  }
  const [expired = ""] = reasons["the token has expired"];
  assert.throws(
    () => tokens.verify(expired),
    (error: MantelError) => error.extras.reason === "expired",
  );
});

test("a signed token without a record is reported once, with a fix", async (t) => {
  const { tokens, data, log } = await openTokens(t);
  const signing = await readSigningKey(data);
  const forged = signedWith(signing);

  for (let n = 0; n < 3; n++) isAccepted(tokens, forged);
  isAccepted(tokens, signedWith(signing, { jti: "another" }));

  const [said, ...more] = log.records.filter(({ level }) => level === "warn");
  assert.match(
    said?.sentence ?? "",
    /^refused a token with a valid signature that is not in the register/,
  );
  assert.match(String(said?.fields["fix"]), /npm run token -- --rotate --drop/);
  assert.equal(more.length, 0, "a client that sends such tokens does not fill the log");
});

test("a token issued by another process is valid immediately, before the register is read again", async (t) => {
  const { tokens: host, data } = await openTokens(t);
  const command = await Tokens.open({ dataFolder: data, log: collectedLog() });

  const accepted: boolean[] = [];
  for (let n = 0; n < 5; n++) {
    const token = await command.issue({ name: "phone", scope: ["read"], ttlSeconds: 60 });
    accepted.push(isAccepted(host, token));
  }

  assert.deepEqual(accepted, [true, true, true, true, true]);
});

test("tokens whose records are lost with every copy are invalid, and new ones work", async (t) => {
  const { tokens, data } = await openTokens(t);
  const lost = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  await rm(join(data, "tokens.jsonl"));
  await rm(join(data, "tokens.jsonl.last-good"));

  const reopened = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const next = await reopened.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  assert.deepEqual([isAccepted(reopened, lost), isAccepted(reopened, next)], [false, true]);
});

test("tokens of version 0.1.0, whose records name no key, stay valid", async (t) => {
  const { tokens, data } = await openTokens(t);
  const token = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  await removeKeyNames(data);

  const upgraded = await Tokens.open({ dataFolder: data, log: collectedLog() });

  assert.ok(isAccepted(upgraded, token));
});

test("a token is valid for thirty extra seconds, for clock differences", async (t) => {
  const { tokens } = await openTokens(t);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const token = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  t.mock.timers.tick(80_000);

  assert.ok(isAccepted(tokens, token));
});

test("a verified token is refused once it has expired", async (t) => {
  const { tokens } = await openTokens(t);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const token = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  tokens.verify(token);

  t.mock.timers.tick(91_000);

  assert.throws(() => tokens.verify(token), { ...UNAUTHORIZED, message: "the token has expired" });
});

test("revoking a name revokes all of its tokens and no others", async (t) => {
  const { tokens } = await openTokens(t);
  const lost = await tokens.issue({ name: "phone", scope: ["read"], ttlSeconds: 60 });
  const alsoLost = await tokens.issue({ name: "phone", scope: ["edit"], ttlSeconds: 60 });
  const kept = await tokens.issue({ name: "tablet", scope: ["read"], ttlSeconds: 60 });
  for (const token of [lost, alsoLost, kept]) tokens.verify(token);

  const revoked = await tokens.revoke("phone");
  const again = await tokens.revoke("phone");

  assert.deepEqual([revoked, again], [2, 0]);
  assert.deepEqual(
    [lost, alsoLost, kept].map((token) => isAccepted(tokens, token)),
    [false, false, true],
  );
});

test("one of two displays with the same name can be revoked alone, with its renewed tokens", async (t) => {
  const { tokens } = await openTokens(t);
  const display = { name: "tablet", scope: ["read" as const], ttlSeconds: 60, display: true };
  const other = await tokens.issue(display);
  const first = await tokens.issue(display);
  const { jti } = tokens.verify(first);
  const renewed = await tokens.issue({ ...display, replaces: jti });

  const unknown = await tokens.revoke("phone", jti);
  const revoked = await tokens.revoke("tablet", tokens.verify(renewed).jti);

  assert.deepEqual([unknown, revoked], [0, 2]);
  assert.deepEqual(
    [other, first, renewed].map((token) => isAccepted(tokens, token)),
    [true, false, false],
  );
});

test("the token that a display renewed is ended by a later use if the first could not record it", async (t) => {
  const { tokens, data } = await openTokens(t);
  const display = { name: "tablet", scope: ["read" as const], ttlSeconds: 60, display: true };
  const first = await tokens.issue(display);
  const renewed = await tokens.issue({ ...display, replaces: tokens.verify(first).jti });
  const principal = tokens.verify(renewed);
  const path = join(data, "tokens.jsonl");
  await rename(path, `${path}.away`);
  await mkdir(path);

  await assert.rejects(async () => tokens.noteUse(principal), { code: "EISDIR" });
  await rmdir(path);
  await rename(`${path}.away`, path);
  await tokens.noteUse(principal);

  assert.deepEqual([isAccepted(tokens, first), isAccepted(tokens, renewed)], [false, true]);
});

test("tokens issued and revoked by another process take effect in a running one", async (t) => {
  const { tokens: host, data } = await openTokens(t);
  const command = await Tokens.open({ dataFolder: data, log: collectedLog() });

  const token = await command.issue({ name: "phone", scope: ["read"], ttlSeconds: 60 });
  const before = host.verify(token);
  await command.revoke("phone");

  assert.equal(before.sub, "phone");
  await until(() => !isAccepted(host, token), { withinMs: 1_000 });
  assert.equal(host.list()[0]?.name, "phone");
});

test("tokens signed with a rotated key stay valid", async (t) => {
  const { tokens, data } = await openTokens(t);
  const older = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  await tokens.rotateKey({ drop: false });
  const newer = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  const [olderKid, newerKid] = [older, newer].map(
    (token) => jwt.decode(token, { complete: true })?.header.kid,
  );
  assert.notEqual(olderKid, newerKid);
  assert.deepEqual(
    [older, newer].map((token) => isAccepted(tokens, token)),
    [true, true],
  );
  const reopened = await Tokens.open({ dataFolder: data, log: collectedLog() });
  assert.deepEqual(
    [older, newer].map((token) => isAccepted(reopened, token)),
    [true, true],
  );
});

test("dropped keys invalidate their tokens immediately, also in another process", async (t) => {
  const { tokens: host, data } = await openTokens(t);
  const command = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const older = await host.issue({ name: "x", scope: ["admin"], ttlSeconds: 60 });
  host.verify(older);

  const dropped = await command.rotateKey({ drop: true });

  assert.equal(dropped, 1);
  assert.equal(isAccepted(command, older), false);
  await until(() => !isAccepted(host, older), { withinMs: 1_000 });
  const newer = await command.issue({ name: "x", scope: ["admin"], ttlSeconds: 60 });
  await until(() => isAccepted(host, newer), { withinMs: 1_000 });
});

test("a rotation drops the keys that no valid token needs, and keeps the others", async (t) => {
  const { tokens } = await openTokens(t);
  await tokens.issue({ name: "revoked", scope: ["read"], ttlSeconds: 60 });
  await tokens.revoke("revoked");
  const first = await tokens.rotateKey({ drop: false });
  const needed = await tokens.issue({ name: "kept", scope: ["read"], ttlSeconds: 60 });

  const second = await tokens.rotateKey({ drop: false });
  const third = await tokens.rotateKey({ drop: false });

  assert.deepEqual([first, second, third], [1, 0, 1], "the second key has signed no token");
  assert.ok(isAccepted(tokens, needed));
});

test("concurrent rotations and issues invalidate no token", async (t) => {
  const data = await emptyFolder(t);
  const open = () => Tokens.open({ dataFolder: data, log: collectedLog() });
  const [host, command] = await Promise.all([open(), open()]);
  const issue = (by: Tokens) => by.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  const rounds = Array.from({ length: 10 }, () =>
    Promise.all([
      ...[issue(host), issue(command)],
      ...[host, command].map(async (by) => {
        await by.rotateKey({ drop: false });
        return issue(by);
      }),
    ]),
  );
  const issued = (await Promise.all(rounds)).flat();

  const reopened = await open();
  const refused = issued.filter((token) => !isAccepted(reopened, token));
  assert.deepEqual([issued.length, refused.length], [40, 0]);
});

test("all keys are kept while a token's record does not name its key", async (t) => {
  const { tokens, data } = await openTokens(t);
  const token = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  await removeKeyNames(data);
  const reopened = await Tokens.open({ dataFolder: data, log: collectedLog() });

  const dropped = await reopened.rotateKey({ drop: false });

  assert.equal(dropped, 0);
  assert.ok(isAccepted(reopened, token));
});

for (const name of [
  "keys.json",
  "tokens.jsonl",
  "audit.log.3",
  "secrets.json",
  "token-use.json",
  "config.pending.json",
]) {
  test(`${name} is made private to its owner again, with a log record`, async (t) => {
    const data = await emptyFolder(t);
    await Tokens.open({ dataFolder: data, log: collectedLog() });
    await appendFile(join(data, name), "");
    for (const open of ["config.json", "old-keys.json", "keys-of-the-car.txt"]) {
      await appendFile(join(data, open), "");
      await chmod(join(data, open), 0o664);
    }
    await chmod(join(data, name), 0o664);
    const log = collectedLog();

    await Tokens.open({ dataFolder: data, log });

    assert.equal((await stat(join(data, name))).mode & 0o777, 0o600);
    const said = log.records.map(({ level, fields }) => [level, fields["path"], fields["mode"]]);
    assert.deepEqual(said, [["warn", join(data, name), "664"]]);
  });
}

test("a file that is gone when it is looked at, because a host runs, is left out", async (t) => {
  const data = await emptyFolder(t);
  await symlink("gone", join(data, "config.pending.json"));
  const log = collectedLog();

  await Tokens.open({ dataFolder: data, log });

  assert.deepEqual(log.records, []);
});

test("the register contains no tokens and is readable only by its owner", async (t) => {
  const { tokens, data } = await openTokens(t);

  const token = await tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });

  const register = await readFile(join(data, "tokens.jsonl"), "utf8");
  const [, , signature = "absent"] = token.split(".");
  assert.match(register, /"name":"x"/);
  assert.ok(!register.includes(signature));
});

async function openTokens(t: TestContext) {
  const [data, log] = [await emptyFolder(t), collectedLog()];
  return { data, log, tokens: await Tokens.open({ dataFolder: data, log }) };
}

/** Turns the records of the register and of its copy into those of version 0.1.0. */
async function removeKeyNames(data: string): Promise<void> {
  for (const name of ["tokens.jsonl", "tokens.jsonl.last-good"]) {
    const path = join(data, name);
    await writeFile(path, (await readFile(path, "utf8")).replaceAll(/"kid":"[^"]+",/g, ""));
  }
}

function claimsOf(token: string): { readonly exp: number } {
  return jwt.decode(token) as { exp: number };
}

function isAccepted(tokens: Tokens, token: string): boolean {
  try {
    tokens.verify(token);
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "unauthorized");
    return false;
  }
}
