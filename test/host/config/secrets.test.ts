import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { holdsSecret, withoutSecrets } from "../../../host/config/secrets.ts";

const Secret = Type.String({ writeOnly: true });

test("a secret is shown only as set or not set", () => {
  assert.deepEqual(withoutSecrets(Secret, "canary"), { set: true });
  assert.deepEqual(withoutSecrets(Secret, undefined), { set: false });
});

test("only the secret parts of a list of objects are hidden", () => {
  const schema = Type.Array(Type.Object({ name: Type.String(), password: Type.Optional(Secret) }));

  const shown = withoutSecrets(schema, [{ name: "a", password: "canary" }, { name: "b" }]);

  assert.deepEqual(shown, [
    { name: "a", password: { set: true } },
    { name: "b", password: { set: false } },
  ]);
});

test("only the secret parts of a record of objects are hidden", () => {
  const Entry = Type.Object({ name: Type.String(), password: Type.Optional(Secret) });
  const schema = Type.Record(Type.String({ pattern: "^[a-z]+$" }), Entry);

  const shown = withoutSecrets(schema, { home: { name: "a", password: "canary", canary: 1 } });

  assert.deepEqual(shown, { home: { name: "a", password: { set: true } } });
});

test("fields unknown to the schema are not shown beside a secret", () => {
  const schema = Type.Object({ password: Secret });

  assert.deepEqual(withoutSecrets(schema, { password: "a", canary: 1 }), {
    password: { set: true },
  });
});

test("a secret in an unsupported schema construct hides the whole value", () => {
  for (const schema of [
    Type.Union([Type.Object({ key: Secret }), Type.Null()]),
    { $ref: "#/$defs/login" },
    { allOf: [{ properties: { key: { writeOnly: true } } }] },
  ]) {
    assert.ok(holdsSecret(schema));
    assert.deepEqual(withoutSecrets(schema, { key: "canary" }), { set: true });
  }
});

test("a value without secrets is shown as it is", () => {
  assert.equal(holdsSecret(Type.Object({ a: Type.String() })), false);
  assert.deepEqual(withoutSecrets(Type.Object({ a: Type.String() }), { a: "x" }), { a: "x" });
});
