import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf } from "../../../../host/dashboard/form/fault.ts";
import {
  choicesOf,
  controlOf,
  emptyValueOf,
  entriesOf,
  type FieldSchema,
  titleOf,
  translatedSchema,
  withoutSecrets,
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
    { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
    { type: "object", properties: {} },
    { type: "object", patternProperties: { "^[a-z]+$": { type: "string" } } },
    { type: "object", patternProperties: { "^a": {}, "^b": {} } },
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
    "choices",
    "group",
    "map",
    "json",
    "json",
    "json",
    "json",
  ]);
});

test("an invalid value is reported in a sentence, and an absent one is accepted", () => {
  const level = { type: "integer", minimum: 1, maximum: 9 };

  assert.equal(fault(level, 5), undefined);
  assert.equal(fault(level, undefined), undefined);
  assert.equal(fault(level, 0), "This must be at least 1.");
  assert.equal(fault(level, 10), "This must be at most 9.");
  assert.equal(fault(level, 1.5), "This must be a whole number.");
  assert.equal(fault(level, "5"), "This must be a number.");
  assert.equal(fault({ type: "boolean" }, "yes"), "yes is neither on nor off.");
  assert.equal(fault({ enum: ["a"] }, "b"), "b is not one of the choices.");
  assert.equal(fault({ type: "string" }, 7), "This must be text.");
  assert.equal(
    fault({ type: "string", minLength: 2 }, "x"),
    "This must have at least 2 characters.",
  );
  assert.equal(
    fault({ type: "array", items: {}, maxItems: 1 }, [1, 2]),
    "At most 1 entries are allowed.",
  );
  assert.equal(fault({ type: "array", items: {} }, "x"), "This must be a list.");
});

test("a new item of a list starts from its default, its first choice, or empty", () => {
  assert.equal(emptyValueOf({ type: "string", default: "x" }), "x");
  assert.equal(emptyValueOf({ enum: ["low", "high"] }), "low");
  assert.equal(emptyValueOf({ type: "number", minimum: 3 }), 3);
  assert.equal(emptyValueOf({ type: "string" }), "");
  assert.deepEqual(emptyValueOf({ type: "object", properties: {} }), {});
});

test("a choice is called by its title, and by its value where it has none", () => {
  const schema = { anyOf: [{ const: "10.0.0.5", title: "Hall" }, { const: 2 }] };

  assert.deepEqual(choicesOf(schema), [
    { value: "10.0.0.5", name: "Hall" },
    { value: 2, name: "2" },
  ]);
});

test("the keys of a map have one pattern, which the host checks if the browser cannot", () => {
  const text = { type: "string" };

  assert.equal(entriesOf({ patternProperties: { "^[a-z]+$": text } })?.pattern.test("A"), false);
  assert.equal(entriesOf({ patternProperties: { "(": text } })?.pattern.test("A"), true);
  assert.equal(
    fault({ type: "object", patternProperties: { "^": text }, maxProperties: 0 }, { a: "" }),
    "At most 0 entries are allowed.",
  );
});

test("a renamed entry does not keep its stored secrets", () => {
  const schema = {
    type: "object",
    properties: {
      key: { type: "string", writeOnly: true },
      typed: { type: "string", writeOnly: true },
      account: { type: "object", properties: { password: { type: "string", format: "password" } } },
    },
  };
  const value = { key: { set: true }, typed: "new", account: { password: { set: true } }, x: 1 };

  assert.deepEqual(withoutSecrets(schema, value), { typed: "new", account: {}, x: 1 });
});

test("a key without a title is shown as readable words", () => {
  assert.equal(titleOf("refreshSeconds", {}), "Refresh seconds");
  assert.equal(titleOf("base_url", {}), "Base url");
  assert.equal(titleOf("x", { title: "Own" }), "Own");
});

test("titles and descriptions of a schema are translated at every depth, and keys as they are shown", () => {
  const german: Record<string, string> = {
    Bridges: "Brücken",
    "Refresh seconds": "Sekunden zwischen Abfragen",
    "how often": "wie oft",
    Fast: "Schnell",
    Address: "Adresse",
  };
  const schema: FieldSchema = {
    type: "object",
    properties: {
      refreshSeconds: { type: "integer", description: "how often" },
      speed: {
        anyOf: [
          { const: 1, title: "Fast" },
          { const: 2, title: "Slow" },
        ],
      },
      bridges: {
        title: "Bridges",
        patternProperties: { "^.+$": { properties: { address: { type: "string" } } } },
      },
      hosts: { items: { title: "Address", type: "string" } },
    },
  };

  const said = translatedSchema(schema, (text) => german[text] ?? text);

  assert.deepEqual(said, {
    type: "object",
    properties: {
      refreshSeconds: {
        type: "integer",
        title: "Sekunden zwischen Abfragen",
        description: "wie oft",
      },
      speed: {
        anyOf: [
          { const: 1, title: "Schnell" },
          { const: 2, title: "Slow" },
        ],
      },
      bridges: {
        title: "Brücken",
        patternProperties: {
          "^.+$": { properties: { address: { type: "string", title: "Adresse" } } },
        },
      },
      hosts: { title: "Adresse", items: { title: "Adresse", type: "string" } },
    },
  });
});
