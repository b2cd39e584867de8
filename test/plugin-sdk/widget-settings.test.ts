import assert from "node:assert/strict";
import { test } from "node:test";
import { s } from "@mantel/plugin-sdk/widget-settings";

for (const [kind, type, value] of [
  ["text", "string", ""],
  ["number", "number", 0],
  ["bool", "boolean", false],
] as const) {
  test(`a ${kind} setting has a type and a default value`, () => {
    assert.deepEqual(s[kind](), { type, default: value });
  });
}

for (const [kind, format] of [
  ["device", "device"],
  ["room", "room"],
  ["color", "color"],
  ["icon", "icon"],
] as const) {
  test(`a ${kind} setting is a string with its own form input`, () => {
    assert.deepEqual(s[kind]({ title: "Which" }), {
      type: "string",
      format,
      default: "",
      title: "Which",
    });
  });
}

test("a given title and default are used", () => {
  assert.deepEqual(s.text({ title: "Name", default: "Lamp" }), {
    type: "string",
    title: "Name",
    default: "Lamp",
  });
  assert.deepEqual(s.bool({ default: true }), { type: "boolean", default: true });
});

test("a number's bounds become JSON Schema bounds, and its default is the lower one", () => {
  assert.deepEqual(s.number({ min: 5, max: 60, step: 5 }), {
    type: "number",
    default: 5,
    minimum: 5,
    maximum: 60,
    multipleOf: 5,
  });
  assert.deepEqual(s.number({ min: 5, default: 30 }), {
    type: "number",
    default: 30,
    minimum: 5,
  });
});

test("the default of a choice is its first value", () => {
  assert.deepEqual(s.choice(["cpu", "memory"]), {
    enum: ["cpu", "memory"],
    default: "cpu",
  });
  assert.deepEqual(s.choice(["cpu", "memory"], { default: "memory" }), {
    enum: ["cpu", "memory"],
    default: "memory",
  });
});

test("a device setting can be limited to one kind", () => {
  assert.deepEqual(s.device({ kind: "light" }), {
    type: "string",
    format: "device",
    deviceKind: "light",
    default: "",
  });
});

test("a list has the schema of its items and is empty by default", () => {
  assert.deepEqual(s.list(s.room(), { max: 3 }), {
    type: "array",
    items: { type: "string", format: "room", default: "" },
    default: [],
    maxItems: 3,
  });
  assert.ok(!("maxItems" in s.list(s.text())));
});

test("schemas have no undefined fields and survive JSON unchanged", () => {
  for (const build of [s.text, s.number, s.device, s.room, s.color, s.icon]) {
    const schema = build();
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
  }
});
