import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Tokens } from "../../host/auth/tokens.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { runScript } from "../helpers/script.ts";

const run = (...args: readonly string[]) => runScript("token", args);

test("the command prints the token alone, and creates the data folder", async (t) => {
  const data = join(await emptyFolder(t), "data");

  const { code, stdout, stderr } = await run(
    "--scope",
    "control",
    "--name",
    "tablet",
    "--data",
    data,
  );

  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  assert.equal((await stat(data)).mode & 0o777, 0o700);
  const tokens = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const { sub, scope } = tokens.verify(stdout.trim());
  assert.deepEqual([sub, scope], ["tablet", ["control"]]);
  assert.match(
    await readFile(join(data, "audit.log"), "utf8"),
    /"action":"token\.issue".+"name":"tablet"/,
  );
});

test("the command prints a sign-in link that is valid for a week, and signs in for a year", async (t) => {
  const data = await emptyFolder(t);

  const { code, stdout, stderr } = await run("--link", "--port", "8471", "--data", data);

  const [, token = ""] = /^http:\/\/127\.0\.0\.1:8471\/#token=(\S+)\n$/.exec(stdout) ?? [];
  const tokens = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const { issuedAt, expiresAt } = tokens.getOpener(token);
  const { ttlSeconds } = await tokens.openSession(token);
  assert.equal(code, 0);
  assert.match(stderr, /it works once; on a phone.+--host 0\.0\.0\.0\n$/);
  assert.deepEqual(tokens.verify(token).scope, ["admin"]);
  assert.deepEqual(
    [(Date.parse(expiresAt) - Date.parse(issuedAt)) / 86_400_000, ttlSeconds / 86_400],
    [7, 365],
  );
});

test("the command lists token names without the tokens, and revokes by name", async (t) => {
  const data = await emptyFolder(t);
  const { stdout: token } = await run(
    "--scope",
    "read",
    "--scope",
    "edit",
    "--name",
    "a b",
    "--data",
    data,
  );

  const revoked = await run("--revoke", "a b", "--data", data);
  const again = await run("--revoke", "a b", "--data", data);
  const listed = await run("--list", "--data", data);

  assert.deepEqual([revoked.code, revoked.stdout, again.code], [0, "revoked 1\n", 1]);
  assert.match(
    listed.stdout,
    /^a b\tread,edit\trevoked\tissued \S+\texpires \S+\tused never\t[\da-f-]{36}\n$/,
  );
  assert.ok(!listed.stdout.includes(token.trim()));
});

test("of two tokens with the same name, the one with the given id is revoked", async (t) => {
  const data = await emptyFolder(t);
  const tokens = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const ask = { name: "tablet", scope: ["read" as const], ttlSeconds: 60 };
  const { jti } = tokens.verify(await tokens.issue(ask));
  await tokens.issue(ask);

  const revoked = await run("--revoke", "tablet", "--id", jti, "--data", data);

  const after = await Tokens.open({ dataFolder: data, log: collectedLog() });
  const left = after.list().filter(({ revokedAt }) => revokedAt === null);
  assert.equal(revoked.stdout, "revoked 1\n");
  assert.deepEqual([left.length, left[0]?.jti === jti], [1, false]);
});

test("a rotated key signs the next token, and --help prints the usage", async (t) => {
  const data = await emptyFolder(t);
  const tokenOf = async () => (await run("--scope", "read", "--data", data)).stdout;
  const kidOf = (token: string) => Buffer.from(token.split(".")[0] ?? "", "base64url").toString();

  const before = await tokenOf();
  const rotated = await run("--rotate", "--data", data);
  const after = await tokenOf();
  const help = await run("--help");

  assert.equal(rotated.code, 0);
  assert.notEqual(kidOf(before), kidOf(after));
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  assert.match(help.stdout, /^Issues, lists and revokes/);
});

test("dropped keys invalidate the tokens that they signed", async (t) => {
  const data = await emptyFolder(t);
  const { stdout: token } = await run("--scope", "read", "--data", data);

  const rotated = await run("--rotate", "--drop", "--data", data);

  assert.match(rotated.stdout, /all existing tokens are now invalid\n$/);
  const tokens = await Tokens.open({ dataFolder: data, log: collectedLog() });
  assert.throws(() => tokens.verify(token.trim()), { code: "unauthorized" });
});

test("a data folder that cannot be created is reported in a sentence", async (t) => {
  const file = join(await emptyFolder(t), "file");
  await writeFile(file, "");

  const { code, stdout, stderr } = await run("--scope", "read", "--data", join(file, "data"));

  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^token: the data folder .+ cannot be used: it is not a folder.+--data\n$/);
});

for (const [name, args] of Object.entries({
  "an unknown flag": ["--scop", "admin"],
  "a word too many": ["--scope", "admin", "now"],
  "no scope": ["--name", "x"],
  "an unknown scope": ["--scope", "root"],
  "a ttl that is not a number": ["--scope", "read", "--ttl", "soon"],
  "a ttl of nothing": ["--scope", "read", "--ttl", "0"],
  "a ttl of a century": ["--scope", "read", "--ttl", "3200000000"],
  "a name with a line break": ["--scope", "read", "--name", "a\nb"],
  "a drop without a rotation": ["--scope", "read", "--drop"],
  "an id without a revocation": ["--scope", "read", "--id", "x"],
  "a port without a link": ["--scope", "read", "--port", "8470"],
  "a link to a port that is not a number": ["--link", "--port", "http"],
  "a link and a list": ["--link", "--list"],
  "two actions at once": ["--list", "--revoke", "tablet"],
})) {
  test(`${name} is an error with the usage, and creates no token`, async (t) => {
    const data = join(await emptyFolder(t), "data");

    const { code, stdout, stderr } = await run(...args, "--data", data);

    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^token: .+\n\nIssues, lists and revokes/s);
    await assert.rejects(stat(data));
  });
}
