import assert from "node:assert/strict";
import { test } from "node:test";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

test("EXDATE excludes starts, given as a time in any zone or as a date", async () => {
  const { starts } = await expand(
    calendar(
      event(
        "UID:a",
        "DTSTART;TZID=Europe/Berlin:20260601T090000",
        "RRULE:FREQ=DAILY;COUNT=5",
        "EXDATE;TZID=Europe/Berlin:20260602T090000",
        "EXDATE:20260603T070000Z",
        "EXDATE;VALUE=DATE:20260604",
      ),
    ),
  );

  assert.deepEqual(starts, ["2026-06-01T09:00:00+02:00", "2026-06-05T09:00:00+02:00"]);
});

test("RDATE adds starts and periods, and a duplicate start is one occurrence", async () => {
  const { events } = await expand(
    calendar(
      event(
        "UID:a",
        "DTSTART:20260601T090000Z",
        "DTEND:20260601T100000Z",
        "RRULE:FREQ=DAILY;COUNT=2",
        "RDATE:20260602T090000Z,20260610T120000Z",
        "RDATE;VALUE=PERIOD:20260611T120000Z/PT3H,20260612T120000Z/20260612T123000Z",
      ),
    ),
  );

  assert.deepEqual(
    events.map(({ from, to }) => `${from.slice(5, 16)} ${to.slice(11, 16)}`),
    [
      "06-01T09:00 10:00",
      "06-02T09:00 10:00",
      "06-10T12:00 13:00",
      "06-11T12:00 15:00",
      "06-12T12:00 12:30",
    ],
  );
});

const SERIES = event(
  "UID:a",
  "SUMMARY:Choir",
  "DTSTART;TZID=Europe/Berlin:20260302T190000",
  "DTEND;TZID=Europe/Berlin:20260302T200000",
  "RRULE:FREQ=WEEKLY;COUNT=4",
);

test("a changed occurrence replaces the original, even if the two name it in different zones", async () => {
  const bytes = calendar(
    SERIES,
    event(
      "UID:a",
      "RECURRENCE-ID:20260309T180000Z",
      "SUMMARY:Concert",
      "DTSTART;TZID=Europe/Berlin:20260310T203000",
    ),
  );

  const { events } = await expand(bytes);

  assert.deepEqual(
    events.map(({ from, title }) => `${from.slice(0, 16)} ${title}`),
    [
      "2026-03-02T19:00 Choir",
      "2026-03-10T20:30 Concert",
      "2026-03-16T19:00 Choir",
      "2026-03-23T19:00 Choir",
    ],
  );
  assert.equal(events[1]?.recurrenceId, "2026-03-09T18:00:00Z");
});

test("an occurrence moved into the window is included, one moved out is not", async () => {
  const bytes = calendar(
    SERIES,
    event(
      "UID:a",
      "RECURRENCE-ID;TZID=Europe/Berlin:20260302T190000",
      "DTSTART;TZID=Europe/Berlin:20261201T190000",
    ),
  );

  assert.deepEqual((await expand(bytes, "2026-12-01", "2026-12-02")).starts, [
    "2026-12-01T19:00:00+01:00",
  ]);
  assert.deepEqual((await expand(bytes, "2026-03-01", "2026-03-09")).starts, []);
});

test("a cancelled occurrence is not shown", async () => {
  const { starts } = await expand(
    calendar(
      SERIES,
      event(
        "UID:a",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260309T190000",
        "DTSTART;TZID=Europe/Berlin:20260309T190000",
        "STATUS:CANCELLED",
      ),
    ),
  );

  assert.deepEqual(
    starts.map((start) => start.slice(5, 10)),
    ["03-02", "03-16", "03-23"],
  );
});

test("a change of this and following occurrences applies until the next change", async () => {
  const { events } = await expand(
    calendar(
      SERIES,
      event(
        "UID:a",
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260309T190000",
        "SUMMARY:Later",
        "DTSTART;TZID=Europe/Berlin:20260309T201500",
        "DURATION:PT30M",
      ),
      event(
        "UID:a",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260316T190000",
        "SUMMARY:Once",
        "DTSTART;TZID=Europe/Berlin:20260316T120000",
      ),
    ),
  );

  assert.deepEqual(
    events.map(({ from, to, title }) => `${from.slice(5, 16)} ${to.slice(11, 16)} ${title}`),
    [
      "03-02T19:00 20:00 Choir",
      "03-09T20:15 20:45 Later",
      "03-16T12:00 12:00 Once",
      "03-23T20:15 20:45 Later",
    ],
  );
});

test("the newest of several copies of an event is used", async () => {
  const copy = (sequence: number, title: string) =>
    event("UID:a", `SEQUENCE:${sequence}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`);

  const { events } = await expand(calendar(copy(2, "newest"), copy(1, "older")));

  assert.deepEqual(
    events.map(({ title }) => title),
    ["newest"],
  );
});

test("of two copies of an event with the same number, the later one in the feed is used", async () => {
  const copy = (title: string) =>
    event("UID:a", "SEQUENCE:1", "DTSTART:20260601T090000Z", `SUMMARY:${title}`);

  const { events } = await expand(calendar(copy("earlier"), copy("later")));

  assert.deepEqual(
    events.map(({ title }) => title),
    ["later"],
  );
});

test("a cancellation message marks the invited event as cancelled", async () => {
  const invitation = calendar("METHOD:REQUEST", event("UID:a", "DTSTART:20260601T090000Z"));
  const message = calendar(
    "METHOD:CANCEL",
    event("UID:a", "SEQUENCE:1", "DTSTART:20260601T090000Z"),
  );

  const { events } = await expand(Buffer.concat([invitation, message]));

  assert.deepEqual(
    events.map(({ status, busy }) => [status, busy]),
    [["cancelled", false]],
  );
});
