import assert from "node:assert/strict";
import { test } from "node:test";
import {
  array,
  assert as always,
  constantFrom,
  jsonValue,
  property,
  string,
  tuple,
} from "fast-check";
import { forEachElement } from "../../../plugins/zigbee2mqtt/json-elements.ts";

/** The elements of a list, or `undefined` if the text is not a list. */
function elementsOf(text: string): unknown[] | undefined {
  const elements: unknown[] = [];
  const work = forEachElement(Buffer.from(text), (element) => elements.push(element));
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value ? elements : undefined;
  }
}

function listIn(text: string): unknown[] | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

test("the elements of every list are those that JSON.parse gives", () => {
  const spaced = constantFrom(0, 1, 4);
  always(
    property(tuple(array(jsonValue()), spaced), ([list, space]) => {
      const text = JSON.stringify(list, undefined, space);
      assert.deepEqual(elementsOf(` ${text}\n`), listIn(text));
    }),
    { numRuns: 300 },
  );
});

test("a text is a list exactly if it is one for JSON.parse", () => {
  const parts = constantFrom("[", "]", ",", '"', "\\", "{", "}", ":", " ", "1", "a", "null");
  always(
    property(string({ unit: parts, maxLength: 12 }), (text) => {
      for (const each of [text, `[${text}]`]) assert.deepEqual(elementsOf(each), listIn(each));
    }),
    { numRuns: 5_000 },
  );
});

test("an element of more than 1 MiB is passed as undefined, and others as they are", () => {
  assert.deepEqual(elementsOf(JSON.stringify([1, "x".repeat(2 ** 20), 2])), [1, undefined, 2]);
});
