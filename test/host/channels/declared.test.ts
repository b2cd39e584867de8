import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDeclaredChannels } from "../../../host/channels/declared.ts";

const channel = (change: object = {}) => ({
  name: "headlines",
  schema: { type: "string" },
  title: "Headlines",
  maxBytes: 100,
  scope: "read",
  keep: false,
  ...change,
});
let deep: object = { type: "string" };
for (let level = 0; level < 60; level++) deep = { type: "array", items: { anyOf: [deep] } };

test("a plugin without channels has none", () => {
  assert.deepEqual(parseDeclaredChannels(undefined), []);
  assert.deepEqual(parseDeclaredChannels([channel()]), [channel()]);
});

const REFUSED: readonly [string, unknown, RegExp][] = [
  ["no list", {}, /the list of channels is invalid/],
  ["a name that is not one", [channel({ name: "__proto__" })], /"__proto__" must be named/],
  ["a name of the host", [channel({ name: "calendar" })], /one of the host's own channels/],
  ["a name twice", [channel(), channel()], /"headlines" is declared twice/],
  ["an unknown scope", [channel({ scope: "root" })], /\/0\/scope is "root"/],
  ["a size above the limit", [channel({ maxBytes: 2 ** 21 })], /\/0\/maxBytes is 2097152/],
  ["an unknown key", [channel({ more: 1 })], /\/0\/more is not a known key/],
  [
    "no schema",
    [channel({ schema: undefined })],
    /\/0\/schema is absent; it must be of type object/,
  ],
  ["a schema nested deep", [channel({ schema: deep })], /headlines is invalid.* nested too deep/],
  [
    "too many",
    Array.from({ length: 33 }, (_, at) => channel({ name: `c${at}` })),
    /must not have more than 32/,
  ],
  [
    "a large schema",
    [channel({ schema: { enum: ["x".repeat(70_000)] } })],
    /headlines is invalid.* has 70013 bytes, the limit is 65536/,
  ],
  [
    "a slow pattern",
    [channel({ schema: { type: "string", pattern: "^(a+)+$" } })],
    /the schema of the channel headlines is invalid: \/pattern/,
  ],
];
for (const [name, given, message] of REFUSED) {
  test(`declared channels are refused for ${name}`, () => {
    assert.throws(() => parseDeclaredChannels(given), { code: "invalid", message });
  });
}
