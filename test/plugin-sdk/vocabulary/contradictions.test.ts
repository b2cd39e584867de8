import assert from "node:assert/strict";
import { test } from "node:test";
import { mergedCommand } from "@mantel/plugin-sdk/vocabulary";

for (const [what, earlier, later, merged] of [
  ["the later value of a field", { on: true, speed: 20 }, { speed: 40 }, { on: true, speed: 40 }],
  ["the later of two movements", { open: true }, { close: true }, { close: true }],
  [
    "the later task of a robot",
    { start: true, fanSpeed: "max" },
    { dock: true },
    { fanSpeed: "max", dock: true },
  ],
  [
    "both of two commands that have nothing to do with each other",
    { dock: true },
    { locate: true },
    { dock: true, locate: true },
  ],
  ["the later skip", { next: true }, { previous: true }, { previous: true }],
  [
    "stop instead of what moves",
    { position: 5, tilt: 6, on: true },
    { stop: true },
    { stop: true },
  ],
  ["a position instead of stop", { stop: true }, { position: 5 }, { position: 5 }],
  ["position and tilt", { position: 5 }, { tilt: 6 }, { position: 5, tilt: 6 }],
  ["a lock instead of the latch", { unlatch: true }, { locked: true }, { locked: true }],
  [
    "only the later of two commands with codes",
    { mode: "disarmed", code: "1" },
    { mode: "home" },
    { mode: "home" },
  ],
  [
    "no earlier field with a code",
    { mode: "home" },
    { mode: "away", code: "1" },
    { mode: "away", code: "1" },
  ],
] as const) {
  test(`two commands as one have ${what}`, () => {
    assert.deepEqual(mergedCommand(earlier, later), merged);
  });
}
