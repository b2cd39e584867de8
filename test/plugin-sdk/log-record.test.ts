import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedFields, boundedSentence } from "../../plugin-sdk/log-record.ts";

test("a sentence is text of at most 4000 characters", () => {
  assert.equal(boundedSentence("started"), "started");
  assert.equal(boundedSentence(7), "7");
  assert.equal(boundedSentence("x".repeat(4_001)), "x".repeat(4_000));
});

test("plain fields are logged as they are", () => {
  const fields = { name: "lamp", count: 3, list: [1, { a: null }], nothing: undefined };
  assert.deepEqual(boundedFields(fields), fields);
});

test("an error is logged with its stack, or its text without one", () => {
  const error = new Error("lamp is away");
  const bare = Object.assign(new TypeError("bare"), { stack: undefined });

  assert.deepEqual(boundedFields({ error, bare }), { error: error.stack, bare: "TypeError: bare" });
});

test("a value that JSON cannot represent is logged as text", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;

  assert.deepEqual(boundedFields({ big: 10n, circle }), {
    big: "10n",
    circle: "<ref *1> { self: [Circular *1] }",
  });
});

test("fields of more than 4000 characters of JSON are replaced by its beginning", () => {
  const whole = { x: "x".repeat(4_000 - '{"x":""}'.length) };
  const long = { x: "x".repeat(4_000) };

  assert.deepEqual(boundedFields(whole), whole);
  assert.deepEqual(boundedFields(long), { cut: JSON.stringify(long).slice(0, 4_000) });
});
