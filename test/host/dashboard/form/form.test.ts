import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf } from "../../../../host/dashboard/form/fault.ts";
import {
  controlOf,
  emptyValueOf,
  type FieldSchema,
  titleOf,
} from "../../../../host/dashboard/form/schema.ts";
import { words } from "../../../../host/dashboard/form/words.ts";

const fault = (schema: FieldSchema, value: unknown): string | undefined =>
  faultOf(schema, value, words.value);

test("a schema's input follows from its type, its format and its choices", () => {
  const controls = [
    { type: "string" },
    { type: "string", format: "device" },
    { type: "string", writeOnly: true },
    { type: "integer" },
    { type: "boolean" },
    { enum: ["a", "b"] },
    { anyOf: [{ const: "a" }, { const: 2 }] },
    { type: "array", items: { type: "string" } },
    { type: "object", properties: {} },
    { type: "object" },
    { anyOf: [{ type: "string" }, { type: "null" }] },
    {},
  ].map(controlOf);

  assert.deepEqual(controls, [
    "text",
    "device",
    "secret",
    "number",
    "switch",
    "choice",
    "choice",
    "list",
    "group",
    "json",
    "json",
    "json",
  ]);
});

test("a value that does not fit is told in words, and an absent one is fine", () => {
  const level = { type: "integer", minimum: 1, maximum: 9 };

  assert.equal(fault(level, 5), undefined);
  assert.equal(fault(level, undefined), undefined);
  assert.equal(fault(level, 0), "This has to be at least 1.");
  assert.equal(fault(level, 10), "This has to be at most 9.");
  assert.equal(fault(level, 1.5), "This has to be a whole number.");
  assert.equal(fault(level, "5"), "This has to be a number.");
  assert.equal(fault({ type: "boolean" }, "yes"), "yes is neither on nor off.");
  assert.equal(fault({ enum: ["a"] }, "b"), "b is not one of the choices.");
  assert.equal(fault({ type: "string" }, 7), "This has to be a text.");
  assert.equal(fault({ type: "string", minLength: 2 }, "x"), "This needs at least 2 characters.");
  assert.equal(fault({ type: "array", items: {}, maxItems: 1 }, [1, 2]), "There may be 1 at most.");
  assert.equal(fault({ type: "array", items: {} }, "x"), "This has to be a list.");
});

test("a new item of a list starts from its default, its first choice, or empty", () => {
  assert.equal(emptyValueOf({ type: "string", default: "x" }), "x");
  assert.equal(emptyValueOf({ enum: ["low", "high"] }), "low");
  assert.equal(emptyValueOf({ type: "number", minimum: 3 }), 3);
  assert.equal(emptyValueOf({ type: "string" }), "");
  assert.deepEqual(emptyValueOf({ type: "object", properties: {} }), {});
});

test("a key without a title is written as people write", () => {
  assert.equal(titleOf("refreshSeconds", {}), "Refresh seconds");
  assert.equal(titleOf("base_url", {}), "Base url");
  assert.equal(titleOf("x", { title: "Own" }), "Own");
});
