import assert from "node:assert/strict";
import { test } from "node:test";
import { instantOf, linesOf } from "../../../scripts/simulate/timeline.ts";

test("a day is a word, a date or an instant", () => {
  const now = new Date(2026, 2, 1, 15, 30);
  assert.deepEqual(instantOf("today", now), new Date(2026, 2, 1));
  assert.deepEqual(instantOf("yesterday", now), new Date(2026, 1, 28));
  assert.deepEqual(instantOf("2026-02-20", now), new Date(2026, 1, 20));
  assert.deepEqual(instantOf("2026-02-20T10:00:00Z", now), new Date("2026-02-20T10:00:00Z"));
  assert.throws(() => instantOf("someday", now), /"someday" is not yesterday/);
});

test("a simulation is printed in the order of time, beside what really happened", () => {
  const trigger = { index: 0, event: { type: "state" } };
  const lines = linesOf(
    {
      from: "2026-06-10T00:00:00Z",
      to: "2026-06-11T00:00:00Z",
      runs: [{ result: "completed" }, { result: "failed", error: "line 4: no" }],
      timeline: [
        { at: "2026-06-10T19:00:00Z", kind: "state", device: "a", field: "contact", value: false },
        { at: "2026-06-10T19:00:00Z", kind: "run", automation: "hall.ts", trigger },
        { at: "2026-06-10T19:00:00Z", kind: "command", device: "b", command: { on: true } },
        { at: "2026-06-10T19:00:01Z", kind: "notify", message: "Welcome" },
      ],
      recorded: [{ at: "2026-06-10T19:00:00.500Z", device: "b", field: "on", value: true }],
      truncated: false,
    },
    "Europe/Berlin",
  );
  assert.deepEqual(lines, [
    "10/06/2026 21:00:00  change      a contact false",
    "10/06/2026 21:00:00  run         hall.ts, started by state",
    '10/06/2026 21:00:00  command     b {"on":true}',
    "10/06/2026 21:00:00  really      b on true",
    "10/06/2026 21:00:01  notify      Welcome",
    "2 runs from 10/06/2026 02:00:00 to 11/06/2026 02:00:00, 1 failed",
    "  line 4: no",
  ]);
});
