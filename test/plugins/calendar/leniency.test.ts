import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

test("an event whose rule cannot be followed shows its first occurrence, marked with the reason", async () => {
  const { events, reason } = await expand(
    calendar(
      event("UID:a", "DTSTART:20260601T090000Z", "RRULE:FREQ=OFTEN"),
      event("UID:b", "DTSTART:20260602T090000Z"),
    ),
  );

  assert.deepEqual(
    events.map(({ from, problem }) => [from, problem]),
    [
      ["2026-06-01T09:00:00Z", "FREQ=OFTEN is refused: HOURLY is the fastest"],
      ["2026-06-02T09:00:00Z", undefined],
    ],
  );
  assert.equal(reason, "FREQ=OFTEN is refused: HOURLY is the fastest");
});

const BERLIN = ["2026-06-01T09:00:00+02:00"];

for (const [damage, lines, starts] of [
  [
    "a zone with a bare colon",
    ["DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin, Bern:20260601T090000"],
    BERLIN,
  ],
  [
    "such a zone before another parameter",
    ["DTSTART;TZID=(UTC+01:00) Berlin;VALUE=DATE-TIME:20260601T090000"],
    BERLIN,
  ],
  ["dates in the long form", ["DTSTART:2026-06-01T09:00:00Z"], ["2026-06-01T09:00:00Z"]],
  ["a day in the long form", ["DTSTART;VALUE=DATE:2026-06-01"], ["2026-06-01"]],
  ["a time without seconds", ["DTSTART:20260601T0900Z"], ["2026-06-01T09:00:00Z"]],
  ["spaces at the end", ["DTSTART:20260601T090000Z  "], ["2026-06-01T09:00:00Z"]],
  [
    "a rule with spaces and a long date",
    ["DTSTART:20260601T090000Z", "RRULE:FREQ=DAILY; UNTIL=2026-06-02T09:00:00Z"],
    ["2026-06-01T09:00:00Z", "2026-06-02T09:00:00Z"],
  ],
] as const) {
  test(`an event with ${damage} is read`, async () => {
    const found = await expand(calendar(event("UID:a", ...lines)));

    assert.deepEqual([found.starts, found.reason], [starts, undefined]);
  });
}

test("a file with only tasks says so", async (t) => {
  const source = new Source({ id: "todo", fallbackName: "todo", floating: UTC });
  t.after(() => source.close());
  const task = "BEGIN:VTODO\r\nUID:t\r\nSUMMARY:Milk\r\nEND:VTODO\r\n";

  await source.read([calendar(task, task)], new Date());

  const { status, error } = source.view();
  assert.deepEqual([status, error], ["ok", "it has no events, only tasks (2)"]);
});
