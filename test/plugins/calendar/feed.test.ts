import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../../../plugins/calendar/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/zones.ts";
import { calendar, event } from "./calendar-text.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
const MARKING = { calendarId: "home", color: "#112233" };

/** The events of a window in 2026, by start. The house is in Berlin. */
async function expand(bytes: Buffer, from = "2026-01-01", to = "2027-01-01") {
  const feed = await Feed.read(bytes, BERLIN);
  const expansion = await feed.eventsIn({ from: Date.parse(from), to: Date.parse(to) }, MARKING);
  const bound = (at: { date: string } | { dateTime: string }) =>
    "date" in at ? at.date : at.dateTime;
  const events = expansion.events
    .map((each) => ({ ...each, from: bound(each.start), to: bound(each.end) }))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1));
  return { ...expansion, feed, events, starts: events.map(({ from: start }) => start) };
}

test("a weekly event keeps its time on the clock across both changes of DST in its zone", async () => {
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

test("a time that DST skips comes an hour later, and one that comes twice is the first", async () => {
  const { starts } = await expand(
    calendar(
      event("UID:a", "DTSTART;TZID=Europe/Berlin:20260329T023000"),
      event("UID:b", "DTSTART;TZID=Europe/Berlin:20261025T023000"),
    ),
  );

  assert.deepEqual(starts, ["2026-03-29T03:30:00+02:00", "2026-10-25T02:30:00+02:00"]);
});

test("EXDATE leaves out starts whether it is a time in any zone or a date", async () => {
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

test("RDATE adds starts and periods, and a start that comes twice is one occurrence", async () => {
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

test("a changed occurrence replaces its own, also when it was named in another zone", async () => {
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

test("an occurrence that was moved into the window is there, and one that was moved out is not", async () => {
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

test("a cancelled occurrence is gone", async () => {
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

test("a change of an occurrence and all that follow moves them until the next change", async () => {
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

test("of several copies of an event the newest counts", async () => {
  const copy = (sequence: number, title: string) =>
    event("UID:a", `SEQUENCE:${sequence}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`);

  const { events } = await expand(calendar(copy(2, "newest"), copy(1, "older")));

  assert.deepEqual(
    events.map(({ title }) => title),
    ["newest"],
  );
});

test("dates last whole days, without an end one, and have no zone", async () => {
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

test("a series of dates honours exceptions that are given as times", async () => {
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

test("days of a DURATION follow the clock and hours follow time", async () => {
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

test("an event that began long before the window and lasts into it is there", async () => {
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

test("a time without a zone is meant in the feed's zone, or else in the house's", async () => {
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

test("what an event says is taken over, without addresses that are not safe to follow", async () => {
  const { events, feed } = await expand(
    calendar(
      "X-WR-CALNAME:Family",
      "X-APPLE-CALENDAR-COLOR:#FF2968FF",
      event(
        "UID:a",
        "DTSTART:20260601T090000Z",
        "SUMMARY:Tea\\, cake\\nand more",
        "LOCATION:Kitchen",
        "STATUS:TENTATIVE",
        "TRANSP:TRANSPARENT",
        "COLOR:turquoise",
        "URL:https://example.org/tea",
      ),
      event("UID:b", "DTSTART:20260602T090000Z", "URL:javascript:alert(1)", "STATUS:CANCELLED"),
    ),
  );

  assert.deepEqual([feed.name, feed.color], ["Family", "#ff2968"]);
  const { from: _, to: __, ...first } = events[0] ?? assert.fail("the first event is missing");
  assert.deepEqual(first, {
    id: "home/a/2026-06-01T09:00:00Z",
    calendarId: "home",
    uid: "a",
    recurrenceId: null,
    title: "Tea, cake\nand more",
    start: { dateTime: "2026-06-01T09:00:00Z", timeZone: "UTC" },
    end: { dateTime: "2026-06-01T09:00:00Z", timeZone: "UTC" },
    allDay: false,
    status: "tentative",
    busy: false,
    location: "Kitchen",
    description: null,
    url: "https://example.org/tea",
    color: "#40e0d0",
  });
  assert.deepEqual(
    [events[1]?.url, events[1]?.color, events[1]?.status, events[1]?.busy],
    [null, "#112233", "cancelled", false],
  );
});

test("bare line feeds, a byte-order mark and a fold within a character are read", async () => {
  const text = calendar(event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:Frühstück")).toString();
  const bytes = Buffer.from(`\u{feff}${text.replaceAll("\r\n", "\n")}`);
  const within = bytes.indexOf("ü") + 1;
  const folded = Buffer.concat([
    bytes.subarray(0, within),
    Buffer.from("\n "),
    bytes.subarray(within),
  ]);

  const { events } = await expand(folded);

  assert.deepEqual(
    events.map(({ title }) => title),
    ["Frühstück"],
  );
});

test("several calendars in one feed are one, each with its own zone", async () => {
  const one = calendar("X-WR-TIMEZONE:Asia/Tokyo", event("UID:a", "DTSTART:20260601T090000"));
  const two = calendar(event("UID:a", "DTSTART:20260602T090000"));

  const { starts } = await expand(Buffer.concat([one, two]));

  assert.deepEqual(starts, ["2026-06-01T09:00:00+09:00", "2026-06-02T09:00:00+02:00"]);
});

test("broken events are skipped and counted, with the reason of the first", async () => {
  const { starts, skipped, reason } = await expand(
    calendar(
      event("UID:a", "DTSTART:20260231T090000Z"),
      event("UID:b", "SUMMARY:never"),
      event("UID:c", "DTSTART:20260601T090000Z", "RRULE:FREQ=SECONDLY"),
      event("UID:d", "DTSTART:20260601T090000Z", "DURATION:soon"),
      event("UID:e", "DTSTART:20260605T090000Z", "ATTENDEE broken"),
    ),
  );

  assert.deepEqual(starts, ["2026-06-05T09:00:00Z"]);
  assert.equal(skipped, 4);
  assert.match(reason ?? "", /2026-02-31T09:00:00Z is not a date or a time that exists/);
});

test("an event that was never closed does not swallow the next", async () => {
  const { starts } = await expand(
    calendar(
      "BEGIN:VEVENT",
      "UID:a",
      "DTSTART:20260601T090000Z",
      event("UID:b", "DTSTART:20260602T090000Z"),
    ),
  );

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z", "2026-06-02T09:00:00Z"]);
});

test("one bomb among good events costs those nothing", async () => {
  const bomb =
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:bomb\nDTSTART:19700101T000000Z\nRRULE:FREQ=SECONDLY;COUNT=999999999\nEND:VEVENT\n";
  const more = Array.from({ length: 20 }, (_, number) =>
    event(
      `UID:${number}`,
      "DTSTART:19000101T000000Z",
      "RRULE:FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;COUNT=99999999",
    ),
  );
  const bytes = Buffer.from(
    `${bomb}${[event("UID:good", "DTSTART:20260601T090000Z"), ...more].join("\n")}\nEND:VCALENDAR\n`,
  );

  const { starts, skipped } = await expand(bytes);

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z"]);
  assert.equal(skipped, 21);
});

const NO_CALENDARS: [what: string, text: string, message: RegExp][] = [
  ["a web page", "<!doctype html><title>Sign in</title>", /web page/],
  ["nothing at all", "", /BEGIN:VCALENDAR is missing/],
  ["half a calendar", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\n", /END:VCALENDAR is missing/],
  ["endless nesting", `BEGIN:VCALENDAR\n${"BEGIN:VTODO\n".repeat(100_000)}`, /more than 20 deep/],
  [
    "a hundred thousand events",
    `BEGIN:VCALENDAR\n${"BEGIN:VEVENT\n".repeat(100_000)}`,
    /over 50000/,
  ],
];

for (const [what, text, message] of NO_CALENDARS) {
  test(`${what} is refused in words`, async () => {
    await assert.rejects(Feed.read(Buffer.from(text), UTC), { code: "invalid", message });
  });
}

test("a broken line in the head of a calendar costs nothing but that line", async () => {
  const lines = ["X-WR-CALNAME", "X-WR-TIMEZONE;BROKEN", "X-APPLE-CALENDAR-COLOR;=:"];

  const { starts } = await expand(calendar(...lines, event("UID:a", "DTSTART:20260601T090000Z")));

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z"]);
});
