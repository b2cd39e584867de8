import assert from "node:assert/strict";
import { test } from "node:test";

type Builder = Record<string, (...parts: unknown[]) => { schema: Record<string, unknown> }>;

// Imported as a mere string: its types are those of the browser, and these tests run on Node.
// oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the type would be that of the file
const { s, defineWidget } = (await import("../../plugin-sdk/widget.ts" as string)) as {
  s: Builder;
  defineWidget: (definition: object) => object;
};

for (const [kind, type, value] of [
  ["text", "string", ""],
  ["number", "number", 0],
  ["bool", "boolean", false],
] as const) {
  test(`a ${kind} setting has a type and a default value`, () => {
    assert.deepEqual(s[kind]?.().schema, { type, default: value });
  });
}

for (const [kind, format] of [
  ["device", "device"],
  ["room", "room"],
  ["color", "color"],
  ["icon", "icon"],
] as const) {
  test(`a ${kind} setting is a string with its own form input`, () => {
    assert.deepEqual(s[kind]?.({ title: "Which" }).schema, {
      type: "string",
      format,
      default: "",
      title: "Which",
    });
  });
}

test("a given title and default are used", () => {
  assert.deepEqual(s["text"]?.({ title: "Name", default: "Lamp" }).schema, {
    type: "string",
    title: "Name",
    default: "Lamp",
  });
  assert.equal(s["bool"]?.({ default: true }).schema["default"], true);
});

test("a number's bounds become JSON Schema bounds, and its default is the lower one", () => {
  assert.deepEqual(s["number"]?.({ min: 5, max: 60, step: 5 }).schema, {
    type: "number",
    default: 5,
    minimum: 5,
    maximum: 60,
    multipleOf: 5,
  });
  assert.equal(s["number"]?.({ min: 5, default: 30 }).schema["default"], 30);
});

test("the default of a choice is its first value", () => {
  assert.deepEqual(s["choice"]?.(["cpu", "memory"]).schema, {
    type: "string",
    enum: ["cpu", "memory"],
    default: "cpu",
  });
  assert.equal(s["choice"]?.(["cpu", "memory"], { default: "memory" }).schema["default"], "memory");
});

test("a device setting can be limited to one kind", () => {
  assert.equal(s["device"]?.({ kind: "light" }).schema["deviceKind"], "light");
});

test("a list has the schema of its items and is empty by default", () => {
  assert.deepEqual(s["list"]?.(s["room"]?.(), { max: 3 }).schema, {
    type: "array",
    items: { type: "string", format: "room", default: "" },
    default: [],
    maxItems: 3,
  });
  assert.ok(!("maxItems" in (s["list"]?.(s["text"]?.()).schema ?? {})));
});

test("schemas have no undefined fields and survive JSON unchanged", () => {
  for (const build of [s["text"], s["number"], s["device"], s["room"], s["color"], s["icon"]]) {
    const schema = build?.().schema;
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
  }
});

test("defineWidget returns the definition unchanged", () => {
  const definition = { name: "Clock", size: { default: [2, 2] }, mount: () => undefined };

  assert.equal(defineWidget(definition), definition);
});
