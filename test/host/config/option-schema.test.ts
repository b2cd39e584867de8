import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { optionSchema, requireSafeSchema } from "../../../host/config/option-schema.ts";

const BROKEN: [what: string, schema: unknown, pointer: string][] = [
  ["a property without a schema", { properties: { a: null } }, "/properties/a"],
  ["properties that are a list", { properties: [{}] }, "/properties"],
  ["no schema at all", 5, "the whole value"],
  ["names that are none", { items: { required: "a" } }, "/items/required"],
  ["choices that are none", { properties: { a: { enum: "b" } } }, "/properties/a/enum"],
  ["alternatives that are none", { anyOf: {} }, "/anyOf"],
  ["entries that are none", { patternProperties: { "^a": 5 } }, "/patternProperties/\\^a"],
  ["an alternative that is none", { anyOf: [{ anyOf: [{}, 5] }] }, "/anyOf/0/anyOf/1"],
];

for (const [what, schema, pointer] of BROKEN) {
  test(`options whose schema has ${what} are refused with the location of the fault`, () => {
    assert.throws(() => optionSchema(schema), {
      code: "invalid",
      message: new RegExp(`^the schema of the options is invalid: ${pointer} must be`),
    });
  });
}

for (const [what, wrap] of Object.entries({
  lists: (items: unknown) => ({ items }),
  objects: (a: unknown) => ({ properties: { a } }),
  records: (a: unknown) => ({ patternProperties: { "^a": a } }),
  alternatives: (schema: unknown) => ({ anyOf: [schema] }),
})) {
  test(`options may be nested in 31 ${what}, and not in more`, () => {
    const nested = (depth: number) => Array.from({ length: depth }).reduce<unknown>(wrap, {});

    assert.ok(optionSchema(nested(31)));
    assert.throws(() => optionSchema(nested(32)), {
      code: "invalid",
      message: "the schema of the options is nested too deep",
    });
  });
}

test("a schema may have 262144 characters, and not more", () => {
  const long = (length: number) => ({ title: "x".repeat(length - '{"title":""}'.length) });

  assert.ok(optionSchema(long(2 ** 18)));
  requireSafeSchema(long(2 ** 18), "the schema of the state");
  assert.throws(() => optionSchema(long(2 ** 18 + 1)), {
    code: "invalid",
    message: "the schema of the options has more than 262144 characters of JSON",
  });
  assert.throws(() => requireSafeSchema(long(2 ** 18 + 1), "the schema of the state"), {
    message: "the schema of the state has more than 262144 characters of JSON",
  });
});

test("a schema without faults is given back as it is", () => {
  const schema = { required: ["a"], properties: { a: { enum: ["b"], anyOf: [{}] } } };

  assert.equal(optionSchema(schema), schema);
});

test("a plugin without options has no schema of them", () => {
  assert.equal(optionSchema(undefined), undefined);
});

test("a pattern that is slow for some texts is refused with its location and an alternative", () => {
  const schema = {
    properties: {
      hosts: { type: "array", items: { type: "string", pattern: "^(a|a)*$" } },
      rooms: { patternProperties: { "(.*)*": {} } },
    },
  };

  assert.throws(
    () => optionSchema(schema),
    (error: unknown) => {
      assert.ok(error instanceof MantelError);
      const { errors = [] } = error.extras;
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ["/properties/hosts/items/pattern", "/properties/rooms/patternProperties/(.*)*"],
      );
      assert.match(
        errors[0]?.detail ?? "",
        /^\^\(a\|a\)\*\$ can match in too many ways.*begin it with \^/,
      );
      return true;
    },
  );
  assert.throws(
    () => requireSafeSchema(schema, "the schema of the state"),
    /^MantelError: the schema of the state is invalid: \/prop/,
  );
  requireSafeSchema(undefined, "the schema of the state");
});
