import assert from "node:assert/strict";
import { test } from "node:test";
import { assertCompatible } from "../../../host/packages/compatibility.ts";

const versions = { mantel: "1.4.0", sdk: "2.1.0" };
const SDK = "@mantel/plugin-sdk";

test("a plugin whose ranges include this home's versions runs here", () => {
  assertCompatible(
    "lamp 1.0.0",
    {
      engines: { mantel: ">=1.2", node: ">=20" },
      peerDependencies: { [SDK]: "^2.0.0" },
      dependencies: { [SDK]: "2.x" },
    },
    versions,
  );
  assertCompatible("lamp 1.0.0", {}, versions);
});

for (const [what, requirements, message] of [
  [
    "another Mantel",
    { engines: { mantel: ">=2" } },
    /it needs Mantel >=2, and this home has 1\.4\.0/,
  ],
  ["another Node", { engines: { node: "<18" } }, /it needs Node <18/],
  [
    "another SDK",
    { peerDependencies: { [SDK]: "^3.0.0" } },
    /it needs @mantel\/plugin-sdk \^3\.0\.0, and this home has 2\.1\.0/,
  ],
  ["no range", { engines: { mantel: "newest" } }, /"newest" for Mantel is not a version range/],
] as const) {
  test(`a plugin that needs ${what} is refused with both versions`, () => {
    assert.throws(() => assertCompatible("lamp 1.0.0", requirements, versions), {
      code: "install_failed",
      message,
    });
  });
}
