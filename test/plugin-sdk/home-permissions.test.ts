import assert from "node:assert/strict";
import { test } from "node:test";
import { HomePermissions, includesPart } from "@mantel/plugin-sdk/home-permissions";
import { faultsOf } from "../../host/validate.ts";

for (const [entries, id, isIncluded] of [
  [undefined, "hue:light:3", false],
  [[], "hue:light:3", false],
  [["*"], "hue:light:3", true],
  [["*"], "host:scene:evening", true],
  [["light:*"], "hue:light:3", true],
  [["light:*"], "hue:lock:3", false],
  [["light:*"], "light:lock:3", false],
  [["scene:*"], "host:scene:evening", true],
  [["scene:*"], "hue:light:3", false],
  [["hue:light:3"], "hue:light:3", true],
  [["hue:light:3"], "hue:light:31", false],
  [["calendar", "location"], "hue:light:3", false],
] as const) {
  test(`${entries?.join() ?? "no entry"} ${isIncluded ? "includes" : "does not include"} ${id}`, () => {
    assert.equal(includesPart(entries, id), isIncluded);
  });
}

test("a manifest names kinds of devices that exist, ids, and what is only read", () => {
  const faults = (permissions: unknown) => faultsOf(HomePermissions, permissions).length;

  assert.equal(faults({ read: ["*", "light:*", "scene:*", "calendar", "location"] }), 0);
  assert.equal(faults({ control: ["*", "hue:light:3", "host:scene:movie-night"] }), 0);
  for (const wrong of ["lamp:*", "light", "hue:light:0", "hue:*:3", "**", ""]) {
    assert.notEqual(faults({ read: [wrong] }), 0, wrong);
  }
  assert.notEqual(faults({ control: ["calendar"] }), 0);
});
