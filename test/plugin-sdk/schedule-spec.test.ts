import assert from "node:assert/strict";
import { test } from "node:test";
import { firstTime, timeAfter } from "@mantel/plugin-sdk/schedule-spec";

/** The next runs of an expression after an instant, in Berlin. */
function runs(expression: string, after: string, count: number): string[] {
  const spec = { kind: "cron", expression } as const;
  const timeZone = "Europe/Berlin";
  const times = [firstTime(spec, Date.parse(after), timeZone)];
  while (times.length < count) {
    const dueAt = times.at(-1) ?? 0;
    times.push(timeAfter(spec, { dueAt, now: dueAt, timeZone }) ?? 0);
  }
  return times.map((at) => new Date(at).toISOString().slice(0, 16));
}

test("in spring a time in the skipped hour runs right after the change, and once", () => {
  assert.deepEqual(runs("30 2 * * *", "2026-03-27T12:00:00Z", 3), [
    "2026-03-28T01:30",
    "2026-03-29T01:00",
    "2026-03-30T00:30",
  ]);
});

test("in autumn a time in the repeated hour runs once", () => {
  assert.deepEqual(runs("30 2 * * *", "2026-10-24T12:00:00Z", 2), [
    "2026-10-25T00:30",
    "2026-10-26T01:30",
  ]);
});

test("seven in the morning stays seven in the morning over both changes", () => {
  assert.deepEqual(runs("0 7 * * *", "2026-03-28T12:00:00Z", 1), ["2026-03-29T05:00"]);
  assert.deepEqual(runs("0 7 * * *", "2026-10-24T12:00:00Z", 1), ["2026-10-25T06:00"]);
});

test("each hour runs in the repeated hour too", () => {
  assert.deepEqual(runs("0 * * * *", "2026-10-24T23:30:00Z", 3), [
    "2026-10-25T00:00",
    "2026-10-25T01:00",
    "2026-10-25T02:00",
  ]);
});

test("an interval continues in its rhythm after a pause", () => {
  const at = { dueAt: 1_000, now: 34_567, timeZone: "UTC" };

  assert.equal(timeAfter({ kind: "every", ms: 10_000 }, at), 41_000);
});
