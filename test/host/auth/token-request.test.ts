import assert from "node:assert/strict";
import { test } from "node:test";
import { withDefaults } from "@mantel/plugin-sdk/defaults";
import { DISPLAY_TTL_SECONDS, TokenRequest } from "../../../host/auth/token-request.ts";
import { check, faultsOf } from "../../../host/validate.ts";

const YEAR = 365 * 24 * 60 * 60;
const GOOD = { name: "wall tablet", scope: ["read"], ttlSeconds: 60 };

test("a token lives for a year unless its request says otherwise, and a display's for 90 days", () => {
  const { name, scope } = GOOD;

  const request = check(TokenRequest, withDefaults(TokenRequest, { name, scope }), "the request");

  assert.equal(request.ttlSeconds, YEAR);
  assert.equal(DISPLAY_TTL_SECONDS, (90 * YEAR) / 365);
});

for (const [what, change] of Object.entries({
  "a name of one letter": { name: "x" },
  "a name of 64 letters of any alphabet, digits and signs": {
    name: `Küche 2._@-日本${"x".repeat(51)}`,
  },
  "a name with any printable text": { name: "Anna's phone (red) / 📱 <3 👩\u200D🍳" },
  "all scopes": { scope: ["read", "control", "edit", "admin"] },
  "a life of a second": { ttlSeconds: 1 },
  "a life of ten years": { ttlSeconds: 10 * YEAR },
})) {
  test(`a token may have ${what}`, () => {
    assert.deepEqual(faultsOf(TokenRequest, { ...GOOD, ...change }), []);
  });
}

for (const [what, pointer, change] of [
  ["no name", "/name", { name: "" }],
  ["a name of 65 letters", "/name", { name: "x".repeat(65) }],
  ["a name with a line break", "/name", { name: "wall\ntablet" }],
  ["a name of spaces", "/name", { name: "  " }],
  ["a name that an address cannot contain", "/name", { name: ".." }],
  ["a name that turns the direction of text", "/name", { name: "wall \u202Etelbat" }],
  ["no scope", "/scope", { scope: [] }],
  ["an unknown scope", "/scope/0", { scope: ["root"] }],
  ["five scopes", "/scope", { scope: ["read", "read", "read", "read", "read"] }],
  ["no lifetime", "/ttlSeconds", { ttlSeconds: 0 }],
  ["a part of a second", "/ttlSeconds", { ttlSeconds: 1.5 }],
  ["more than ten years", "/ttlSeconds", { ttlSeconds: 10 * YEAR + 1 }],
  ["an unknown field", "/display", { display: true }],
] as const) {
  test(`a token request with ${what} is refused`, () => {
    const faults = faultsOf(TokenRequest, { ...GOOD, ...change });

    assert.deepEqual(
      faults.map((fault) => fault.pointer),
      [pointer],
    );
  });
}
