import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Check } from "typebox/schema";
import { plainCheck } from "../../host/plain-check.ts";

const ITEM = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string", minLength: 1, maxLength: 10, description: "its name" },
    size: { type: "integer", minimum: 0, maximum: 5 },
    kind: { enum: ["a", 3, null] },
    on: { anyOf: [{ type: "boolean" }, { type: "null" }] },
  },
  additionalProperties: false,
};
const check = plainCheck({ type: "array", items: ITEM, maxItems: 2 });

test("valid values are accepted", () => {
  const values = [[], [{ id: "x" }], [{ id: "x", size: 5, kind: null, on: true }, { id: "y" }]];

  assert.deepEqual(
    values.map((value) => check?.(value)),
    [true, true, true],
  );
});

test("a value of another type, size, length or choice, or with another property, is not accepted", () => {
  const wrong = [
    {},
    [{}],
    [{ id: "" }],
    [{ id: "x".repeat(11) }],
    [{ id: "x", size: 1.5 }],
    [{ id: "x", size: 6 }],
    [{ id: "x", kind: "b" }],
    [{ id: "x", on: "yes" }],
    [{ id: "x", more: 1 }],
    [{ id: "x" }, { id: "x" }, { id: "x" }],
    [Object.create({ id: "x" })],
  ];

  for (const value of wrong) assert.equal(check?.(value), false, JSON.stringify(value));
});

test("schemas with references, patterns, formats or unknown keywords are left to the library", () => {
  for (const schema of [
    true,
    { $ref: "#" },
    { type: "string", pattern: "^a" },
    { type: "string", format: "date-time" },
    { type: ["string", "null"] },
    { type: "array", items: { type: "array", uniqueItems: true } },
    { type: "object", properties: { toString: { type: "string" } } },
    { type: "object", additionalProperties: { $ref: "#" } },
    { const: { a: 1 } },
    { anyOf: [{ not: {} }] },
  ]) {
    assert.equal(plainCheck(schema), undefined, JSON.stringify(schema));
  }
});

test("no value is accepted that the schema library refuses", () => {
  const bound = fc.option(fc.integer({ min: -3, max: 6 }), { nil: undefined });
  const scalar = fc.oneof(
    fc.constantFrom("", "a", "ab", "é", "e\u0301", "👨‍👩‍👧", null, true, false),
    fc.integer({ min: -4, max: 7 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.record({ type: fc.constant("string"), minLength: bound, maxLength: bound }),
      fc.record({ type: fc.constantFrom("number", "integer"), minimum: bound, maximum: bound }),
      fc.record({ type: fc.constantFrom("boolean", "null") }),
      fc.record({ enum: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: bound }),
      fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
        required: fc.subarray(["a", "b"]),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
      }),
    ),
  }));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
    ),
  }));

  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 5 }), (given, values) => {
      const plain = JSON.parse(JSON.stringify(given)) as object;
      const accepts = plainCheck(plain);
      for (const each of values) if (accepts?.(each)) assert.ok(Check(plain, each));
    }),
    { numRuns: 2_000 },
  );
});
