import assert from "node:assert/strict";
import { test } from "node:test";
import { EXTRA, mergedCommands, OWN } from "@mantel/plugin-sdk/device-sections";

for (const [section, kept] of [
  [OWN, { close: true }],
  ["left", { close: true }],
  [EXTRA, { open: true, close: true }],
] as const) {
  test(`of open and close for "${section}" a device gets ${Object.keys(kept).join(" and ")}`, () => {
    const merged = mergedCommands(
      new Map([[section, { open: true }]]),
      new Map([[section, { close: true }]]),
    );

    assert.deepEqual([...merged], [[section, kept]]);
  });
}
