import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { JsonShape } from "../../host/json-shape.ts";

/** Texts with quotation marks and backslashes, some of them longer than the loop before a search. */
const text = fc.array(fc.constantFrom("\\", '"', "a", ",", "[{", "x".repeat(40)), { maxLength: 9 });
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text.map((parts) => parts.join("")),
    fc.constant(1),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(text, tie("value")), { maxLength: 4 })
      .map((pairs) => Object.fromEntries(pairs.map(([key, value]) => [key.join(""), value]))),
  ),
})).value;

test("the measured shape of JSON matches the parsed value, for every split of its bytes", () => {
  const property = fc.property(json, fc.array(fc.nat()), (value, cuts) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const shape = new JsonShape();
    const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
    for (const [index, place] of [...places, bytes.length].entries()) {
      shape.add(bytes.subarray(places[index - 1] ?? 0, place));
    }

    const { depth, members, values } = countsOf(value);
    assert.deepEqual([shape.depth, shape.members], [depth, members]);
    assert.ok(shape.values >= values && shape.values <= 2 * values);
  });
  fc.assert(property, { numRuns: 2_000 });
});

function countsOf(value: unknown): { depth: number; members: number; values: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, members: 0, values: 1 };
  const parts = Object.values(value).map(countsOf);
  const sum = (name: "members" | "values") => parts.reduce((all, each) => all + each[name], 0);
  return {
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    members: sum("members") + (Array.isArray(value) ? 0 : parts.length),
    values: 1 + sum("values"),
  };
}
