import assert from "node:assert/strict";
import { test } from "node:test";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

test("dates last whole days, one day without an end, and have no zone", async () => {
  const { events } = await expand(
    calendar(
      event("UID:a", "DTSTART;VALUE=DATE:20260601"),
      event("UID:b", "DTSTART:20260602", "DTEND:20260605"),
      event("UID:c", "DTSTART;VALUE=DATE:20260606", "DURATION:P1W"),
      event("UID:d", "DTSTART;VALUE=DATE:20260614", "DTEND;VALUE=DATE:20260614"),
    ),
  );

  assert.deepEqual(
    events.map(({ start, end, allDay }) => ({ start, end, allDay })),
    [
      { start: { date: "2026-06-01" }, end: { date: "2026-06-02" }, allDay: true },
      { start: { date: "2026-06-02" }, end: { date: "2026-06-05" }, allDay: true },
      { start: { date: "2026-06-06" }, end: { date: "2026-06-13" }, allDay: true },
      { start: { date: "2026-06-14" }, end: { date: "2026-06-15" }, allDay: true },
    ],
  );
});

test("exceptions given as times apply to a series of dates", async () => {
  const { starts } = await expand(
    calendar(
      event(
        "UID:a",
        "DTSTART;VALUE=DATE:20260601",
        "RRULE:FREQ=DAILY;COUNT=3",
        "EXDATE:20260602T000000Z",
      ),
    ),
  );

  assert.deepEqual(starts, ["2026-06-01", "2026-06-03"]);
});

test("days in a DURATION follow local time, hours follow elapsed time", async () => {
  const { events } = await expand(
    calendar(
      event("UID:a", "DTSTART;TZID=Europe/Berlin:20260328T120000", "DURATION:P1D"),
      event("UID:b", "DTSTART;TZID=Europe/Berlin:20260328T130000", "DURATION:PT24H"),
    ),
  );

  assert.deepEqual(
    events.map(({ to }) => to),
    ["2026-03-29T12:00:00+02:00", "2026-03-29T14:00:00+02:00"],
  );
});

test("an event that began long before the window and lasts into it is included", async () => {
  const bytes = calendar(
    event("UID:a", "DTSTART;VALUE=DATE:20200101", "DTEND;VALUE=DATE:20260602"),
    event("UID:b", "DTSTART:20260501T000000Z", "DURATION:P40D", "RRULE:FREQ=YEARLY"),
  );

  const { events } = await expand(bytes, "2026-06-01", "2026-06-02");

  assert.deepEqual(
    events.map(({ uid }) => uid),
    ["a", "b"],
  );
});
