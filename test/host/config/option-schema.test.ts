import assert from "node:assert/strict";
import { test } from "node:test";
import { optionSchema } from "../../../host/config/option-schema.ts";

const BROKEN: [what: string, schema: unknown, pointer: string][] = [
  ["a property without a schema", { properties: { a: null } }, "/properties/a"],
  ["properties that are a list", { properties: [{}] }, "/properties"],
  ["no schema at all", 5, "the whole of it"],
  ["names that are none", { items: { required: "a" } }, "/items/required"],
  ["choices that are none", { properties: { a: { enum: "b" } } }, "/properties/a/enum"],
  ["alternatives that are none", { anyOf: {} }, "/anyOf"],
  ["an alternative that is none", { anyOf: [{ anyOf: [{}, 5] }] }, "/anyOf/0/anyOf/1"],
];

for (const [what, schema, pointer] of BROKEN) {
  test(`options whose schema has ${what} are refused with the place of the fault`, () => {
    assert.throws(() => optionSchema(schema), {
      code: "invalid",
      message: new RegExp(`^the schema of the options is wrong: ${pointer} must be`),
    });
  });
}

test("options whose schema is nested without end are refused", () => {
  const schema = Array.from({ length: 40 }).reduce((items) => ({ items }), {});

  assert.throws(() => optionSchema(schema), { code: "invalid", message: /too deep/ });
});

test("a plugin without options has no schema of them", () => {
  assert.equal(optionSchema(undefined), undefined);
});
