import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isPasswordHash, verifyPassword } from "@mantel/plugin-sdk/password-hash";
import { Type } from "typebox";
import { withPasswordHashes } from "../../../host/config/password-hashes.ts";
import { until } from "../../helpers/until.ts";
import { admin, openConfig } from "./open-config.ts";

const Password = Type.String({ minLength: 8, writeOnly: true, "x-stored-as": "scrypt" });
const Options = Type.Object({
  users: Type.Record(
    Type.String({ pattern: "^[a-z]+$" }),
    Type.Object({ password: Password, read: Type.Optional(Type.Array(Type.String())) }),
    { default: {} },
  ),
  key: Type.Optional(Type.String({ writeOnly: true })),
});

/** A config with a plugin whose users have passwords that are stored as hashes. */
async function setUp(...[t, setup]: Parameters<typeof openConfig>) {
  const opened = await openConfig(t, setup);
  opened.config.registerOptions("broker", Options);
  const patch = (broker: object) => opened.config.patch({ broker }, admin);
  const passwordOf = (user: string) => {
    const { users = {} } = opened.config.current["broker"] as {
      users?: Record<string, { password: string }>;
    };
    return users[user]?.password ?? "";
  };
  const onDisk = () => readFile(join(opened.dataFolder, "secrets.json"), "utf8");
  return { ...opened, patch, passwordOf, onDisk };
}

test("a password is stored as its hash alone", async (t) => {
  const { patch, passwordOf, onDisk } = await setUp(t);

  await patch({ users: { ann: { password: "canary-2b9e" } }, key: "as it is" });

  assert.ok(await verifyPassword("canary-2b9e", passwordOf("ann")));
  assert.ok(isPasswordHash(passwordOf("ann")));
  assert.doesNotMatch(await onDisk(), /canary/);
  assert.match(await onDisk(), /as it is/, "a secret of another kind is kept as it is");
});

test("a stored hash stays the same when another value changes", async (t) => {
  const { patch, passwordOf } = await setUp(t);
  await patch({ users: { ann: { password: "canary-2b9e" } } });
  const before = passwordOf("ann");

  await patch({ users: { ann: { read: ["#"] }, ben: { password: "canary-91c0" } } });

  assert.equal(passwordOf("ann"), before);
  assert.ok(await verifyPassword("canary-91c0", passwordOf("ben")));
});

test("a password that is too short is refused, and nothing is stored", async (t) => {
  const { patch, passwordOf } = await setUp(t);

  await assert.rejects(patch({ users: { ann: { password: "short" } } }), {
    code: "invalid",
  });

  assert.equal(passwordOf("ann"), "");
});

test("a password written into the config file by hand is moved and hashed", async (t) => {
  const files = { "config.json": '{"broker":{"users":{"ann":{"password":"canary-2b9e"}}}}' };
  const { config, path, passwordOf, onDisk } = await setUp(t, { files });
  const changed: string[] = [];
  config.onChange((keys) => changed.push(...keys));

  await until(async () => !/canary/.test(await readFile(path, "utf8")));
  await until(async () => /scrypt/.test(await onDisk()));
  await writeFile(path, '{"ui":{"theme":"dark"}}');
  await until(() => changed.length > 0);

  assert.ok(isPasswordHash(passwordOf("ann")));
  assert.doesNotMatch(await onDisk(), /canary/);
  assert.deepEqual(changed, ["ui.theme"], "the module need not start again for its hash");
});

test("too many password checks at once are refused", async (t) => {
  const { patch } = await setUp(t);
  const names = Array.from({ length: 101 }, (_, at) => "a".repeat(at + 1));
  const users = Object.fromEntries(names.map((name) => [name, { password: "canary-2b9e" }]));

  await assert.rejects(patch({ users }), {
    code: "invalid",
    message: "too many passwords: at most 100 can be set at once",
  });
});

test("passwords are hashed in lists, objects and records, and nothing else is changed", async () => {
  const schema = Type.Object({
    list: Type.Array(Type.Object({ password: Password, age: Type.Number() })),
    plain: Type.Array(Type.String()),
    none: Type.Null(),
  });
  const value = {
    list: [
      { password: "first-canary", age: 1 },
      { password: "second-canary", age: 2 },
    ],
    plain: ["first-canary"],
    none: null,
    unknown: { password: "first-canary" },
  };

  const hashed = (await withPasswordHashes(schema, value)) as typeof value;

  const hashes = hashed.list.map(({ password }) => password);
  assert.ok(hashes.every(isPasswordHash));
  assert.ok(await verifyPassword("first-canary", hashes[0] ?? ""));
  assert.ok(await verifyPassword("second-canary", hashes[1] ?? ""));
  assert.deepEqual(
    { ...hashed, list: hashed.list.map(({ age }) => age) },
    { ...value, list: [1, 2] },
  );
});

test("a value without passwords is the same object", async () => {
  const value = { name: "x" };

  assert.equal(await withPasswordHashes(Type.Object({ name: Type.String() }), value), value);
});
