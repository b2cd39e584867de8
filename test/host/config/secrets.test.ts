import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { holdsSecret, withoutSecrets } from "../../../host/config/secrets.ts";

const Secret = Type.String({ writeOnly: true });

test("a secret is shown only as set or not set", () => {
  assert.deepEqual(withoutSecrets(Secret, "canary"), { set: true });
  assert.deepEqual(withoutSecrets(Secret, undefined), { set: false });
  assert.deepEqual(withoutSecrets(Secret, ""), { set: false }, "a default that means no secret");
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

for (const reference of ["$ref", "$dynamicRef", "$recursiveRef", "$REF"]) {
  test(`a schema with ${reference} counts as a secret, because it is not followed`, () => {
    assert.ok(holdsSecret({ properties: { a: { [reference]: "#/x" } } }));
  });
}

test("names that only look like a reference are not secrets", () => {
  for (const name of ["ref", "a$ref", "$refs", "$a-ref", "href"]) {
    assert.ok(!holdsSecret({ properties: { [name]: { type: "string" } } }), name);
  }
  assert.ok(!holdsSecret({ writeOnly: false }));
  assert.ok(!holdsSecret(null));
});

test("a value of another type than its schema's is withheld as a whole", () => {
  const fields = Type.Object({ key: Secret });
  const list = Type.Array(fields);
  const record = Type.Record(Type.String({ pattern: "^[a-z]+$" }), fields);

  for (const value of ["canary", 5, null, ["canary"]]) {
    assert.deepEqual(withoutSecrets(fields, value), { set: true });
    assert.deepEqual(withoutSecrets(record, value), { set: true });
  }
  assert.deepEqual(withoutSecrets(list, { key: "canary" }), { set: true });
  assert.deepEqual(withoutSecrets(list, "canary"), { set: true });
});

test("a whole list or object that is a secret is withheld, whatever its parts say", () => {
  const parts = { items: { type: "object" }, properties: { name: { type: "string" } } };

  for (const value of [[{ name: "canary" }], { name: "canary" }]) {
    assert.deepEqual(withoutSecrets({ writeOnly: true, ...parts }, value), { set: true });
  }
});

test("a record with several patterns, or with named fields too, shows only what is named", () => {
  const several = { patternProperties: { "^a": { writeOnly: true }, "^b": { type: "string" } } };
  const named = { properties: { name: { type: "string" } }, patternProperties: { "^k": Secret } };

  assert.deepEqual(withoutSecrets(several, { a: "canary", b: "x" }), { set: true });
  assert.deepEqual(withoutSecrets(named, { name: "x", key: "canary" }), { name: "x" });
});
