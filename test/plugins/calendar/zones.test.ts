import assert from "node:assert/strict";
import { test } from "node:test";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

test("a weekly event keeps its local time across both DST changes of its zone", async () => {
  const bytes = calendar(
    event(
      "UID:a",
      "DTSTART;TZID=Europe/Berlin:20260315T090000",
      "DTEND;TZID=Europe/Berlin:20260315T100000",
      "RRULE:FREQ=WEEKLY;COUNT=3",
    ),
    event(
      "UID:b",
      "DTSTART;TZID=America/New_York:20261025T200000",
      "DURATION:PT1H",
      "RRULE:FREQ=WEEKLY;COUNT=3",
    ),
  );

  const { events } = await expand(bytes);

  // Berlin changes on March 29, New York on November 1, at two in the morning
  assert.deepEqual(
    events.map(({ from, to }) => `${from} ${to}`),
    [
      "2026-03-15T09:00:00+01:00 2026-03-15T10:00:00+01:00",
      "2026-03-22T09:00:00+01:00 2026-03-22T10:00:00+01:00",
      "2026-03-29T09:00:00+02:00 2026-03-29T10:00:00+02:00",
      "2026-10-25T20:00:00-04:00 2026-10-25T21:00:00-04:00",
      "2026-11-01T20:00:00-05:00 2026-11-01T21:00:00-05:00",
      "2026-11-08T20:00:00-05:00 2026-11-08T21:00:00-05:00",
    ],
  );
  assert.deepEqual(events[5]?.start, {
    dateTime: "2026-11-08T20:00:00-05:00",
    timeZone: "America/New_York",
  });
  assert.equal(events[5]?.recurrenceId, "2026-11-09T01:00:00Z");
});

test("a time that DST skips moves an hour later, and a repeated time means the first", async () => {
  const { starts } = await expand(
    calendar(
      event("UID:a", "DTSTART;TZID=Europe/Berlin:20260329T023000"),
      event("UID:b", "DTSTART;TZID=Europe/Berlin:20261025T023000"),
    ),
  );

  assert.deepEqual(starts, ["2026-03-29T03:30:00+02:00", "2026-10-25T02:30:00+02:00"]);
});

test("a time without a zone uses the feed's zone, or else the home's", async () => {
  const floating = event("UID:a", "DTSTART:20260601T090000");

  assert.deepEqual((await expand(calendar(floating))).starts, ["2026-06-01T09:00:00+02:00"]);
  const abroad = await expand(calendar("X-WR-TIMEZONE:Asia/Tokyo", floating));
  assert.deepEqual(abroad.starts, ["2026-06-01T09:00:00+09:00"]);
});

test("Windows names, prefixed names and quoted names of zones are understood", async () => {
  const { events } = await expand(
    calendar(
      event("UID:a", "DTSTART;TZID=W. Europe Standard Time:20260601T090000"),
      event(
        "UID:b",
        "DTSTART;TZID=/freeassociation.sourceforge.net/America/New_York:20260602T090000",
      ),
      event("UID:c", 'DTSTART;TZID="Asia/Kolkata":20260603T090000'),
    ),
  );

  assert.deepEqual(
    events.map(({ from }) => from),
    ["2026-06-01T09:00:00+02:00", "2026-06-02T09:00:00-04:00", "2026-06-03T09:00:00+05:30"],
  );
});

test("a zone that only the feed defines follows the feed's rules", async () => {
  const zone = [
    "BEGIN:VTIMEZONE",
    "TZID:Our Own Time",
    "BEGIN:STANDARD",
    "DTSTART:16010101T030000",
    "TZOFFSETFROM:+0200",
    "TZOFFSETTO:+0100",
    "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
    "END:STANDARD",
    "BEGIN:DAYLIGHT",
    "DTSTART:16010101T020000",
    "TZOFFSETFROM:+0100",
    "TZOFFSETTO:+0200",
    "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
    "END:DAYLIGHT",
    "END:VTIMEZONE",
  ];

  const { events } = await expand(
    calendar(
      ...zone,
      event("UID:a", "DTSTART;TZID=Our Own Time:20260328T090000", "RRULE:FREQ=DAILY;COUNT=2"),
    ),
  );

  assert.deepEqual(
    events.map(({ start }) => start),
    [
      { dateTime: "2026-03-28T08:00:00Z", timeZone: "UTC" },
      { dateTime: "2026-03-29T07:00:00Z", timeZone: "UTC" },
    ],
  );
});

test("several calendars in one feed become one, each with its own zone", async () => {
  const one = calendar("X-WR-TIMEZONE:Asia/Tokyo", event("UID:a", "DTSTART:20260601T090000"));
  const two = calendar(event("UID:a", "DTSTART:20260602T090000"));

  const { starts } = await expand(Buffer.concat([one, two]));

  assert.deepEqual(starts, ["2026-06-01T09:00:00+09:00", "2026-06-02T09:00:00+02:00"]);
});
