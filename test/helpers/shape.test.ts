import assert from "node:assert/strict";
import { test } from "node:test";
import { shapeFaults, type Shapes } from "./shape.ts";

const SHAPES: Shapes = {
  lamp: {
    name: "string",
    "level?": "integer 0..100 | null",
    "mode?": '"on" | "off"',
    "parts?": "list",
    "parts[]": "object",
    "parts[].kind": '"a" | "b"',
    "by?": "object",
    "by.*": "as lamp.level",
    "id?": "uuid",
    "at?": "date-time",
    "path?": "string /^(\\/[a-z]{2,4})?$/",
    "short?": "string 1..3",
    "one?": "list 1..1",
  },
};

test("a value that fits its shape has no fault", () => {
  const value = { name: "a", level: null, mode: "on", parts: [{ kind: "a" }], by: { x: 1, y: 2 } };

  assert.deepEqual(shapeFaults(SHAPES, "lamp", value), []);
});

test("each field that is missing, unknown or of another type is a fault", () => {
  const value = { level: 1.5, mode: "dim", parts: [{ kind: "c" }, {}], by: { x: 101 }, extra: 1 };

  assert.deepEqual(shapeFaults(SHAPES, "lamp", value), [
    "lamp.level: 1.5 is not integer 0..100 | null",
    'lamp.mode: "dim" is not "on" | "off"',
    'lamp.parts[].kind: "c" is not "a" | "b"',
    "lamp.parts[].kind: missing",
    "lamp.by.*: 101 is not integer 0..100 | null",
    "lamp.extra: not known",
    "lamp.name: missing",
  ]);
});

for (const [field, good, bad] of [
  ["id", "3883f8bf-30a3-445b-ac06-b047d50599df", "lamp-1"],
  ["at", "2026-02-05T19:33:06Z", "none"],
  ["path", "/ab", "ab"],
  ["short", "abc", "abcd"],
  ["short", "a", ""],
  ["one", [1], []],
  ["one", [1], [1, 2]],
] as const) {
  test(`${field} may be ${JSON.stringify(good)} and not ${JSON.stringify(bad)}`, () => {
    const faults = (value: unknown) =>
      shapeFaults(SHAPES, "lamp", { [field]: value }, { isPart: true });

    assert.deepEqual(faults(good), []);
    assert.equal(faults(bad).length, 1);
  });
}

test("a part of a value may lack fields, and an unknown shape is a fault", () => {
  assert.deepEqual(shapeFaults(SHAPES, "lamp", { level: 5 }, { isPart: true }), []);
  assert.deepEqual(shapeFaults(SHAPES, "plug", {}), ["plug: there is no such shape"]);
});
