import assert from "node:assert/strict";
import { test } from "node:test";

type Builder = Record<string, (...parts: unknown[]) => { schema: Record<string, unknown> }>;

// Imported by its address: its types are those of the browser, and these tests run on Node.
const address = new URL("../../plugin-sdk/widget.ts", import.meta.url).href;
const { s, defineWidget } = (await import(address)) as {
  s: Builder;
  defineWidget: (definition: object) => object;
};

for (const [kind, type, value] of [
  ["text", "string", ""],
  ["number", "number", 0],
  ["bool", "boolean", false],
] as const) {
  test(`a ${kind} setting has a type, and a value without anybody giving one`, () => {
    assert.deepEqual(s[kind]?.().schema, { type, default: value });
  });
}

for (const [kind, format] of [
  ["device", "device"],
  ["room", "room"],
  ["color", "color"],
  ["icon", "icon"],
] as const) {
  test(`a ${kind} setting is a text whose form shows a choice of its own`, () => {
    assert.deepEqual(s[kind]?.({ title: "Which" }).schema, {
      type: "string",
      format,
      default: "",
      title: "Which",
    });
  });
}

test("a title and a default are taken over", () => {
  assert.deepEqual(s["text"]?.({ title: "Name", default: "Lamp" }).schema, {
    type: "string",
    title: "Name",
    default: "Lamp",
  });
  assert.equal(s["bool"]?.({ default: true }).schema["default"], true);
});

test("the bounds of a number are those of JSON Schema, and it starts at the lower one", () => {
  assert.deepEqual(s["number"]?.({ min: 5, max: 60, step: 5 }).schema, {
    type: "number",
    default: 5,
    minimum: 5,
    maximum: 60,
    multipleOf: 5,
  });
  assert.equal(s["number"]?.({ min: 5, default: 30 }).schema["default"], 30);
});

test("a choice starts with its first value", () => {
  assert.deepEqual(s["choice"]?.(["cpu", "memory"]).schema, {
    type: "string",
    enum: ["cpu", "memory"],
    default: "cpu",
  });
  assert.equal(s["choice"]?.(["cpu", "memory"], { default: "memory" }).schema["default"], "memory");
});

test("a device setting may be of one kind alone", () => {
  assert.equal(s["device"]?.({ kind: "light" }).schema["deviceKind"], "light");
});

test("a list has the schema of its items, and starts empty", () => {
  assert.deepEqual(s["list"]?.(s["room"]?.(), { max: 3 }).schema, {
    type: "array",
    items: { type: "string", format: "room", default: "" },
    default: [],
    maxItems: 3,
  });
  assert.ok(!("maxItems" in (s["list"]?.(s["text"]?.()).schema ?? {})));
});

test("no field is there without a value, so a schema is the same after JSON", () => {
  for (const build of [s["text"], s["number"], s["device"], s["room"], s["color"], s["icon"]]) {
    const schema = build?.().schema;
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
  }
});

test("a definition is given back as it is", () => {
  const definition = { name: "Clock", size: { default: [2, 2] }, mount: () => undefined };

  assert.equal(defineWidget(definition), definition);
});
