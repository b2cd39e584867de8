import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { calendar, event } from "./calendar-text.ts";
import { expand, windowOf } from "./expand.ts";

test("an event's fields are kept, except unsafe links", async () => {
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

test("the categories of all lines are kept once each, and a broken line is left out", async () => {
  const many = Array.from({ length: 30 }, (_, at) => `C${at}`).join(",");
  const { events } = await expand(
    calendar(
      event(
        "UID:a",
        "DTSTART:20260601T090000Z",
        "CATEGORIES;LANGUAGE=en:Family,Food\\, drink,,Family",
        "categories: Work ",
        "CATEGORIES broken",
      ),
      event("UID:b", "DTSTART:20260602T090000Z", "CATEGORIES:"),
      event("UID:c", "DTSTART:20260603T090000Z", `CATEGORIES:${"x".repeat(500)},${many}`),
    ),
  );

  const [first, second, third] = events;
  assert.deepEqual(first?.categories, ["Family", "Food, drink", "Work"]);
  assert.ok(second && !("categories" in second));
  assert.deepEqual([third?.categories?.length, third?.categories?.[0]?.length], [20, 100]);
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

test("broken events are skipped and counted, with the reason of the first", async () => {
  const { starts, skipped, simplified, reason } = await expand(
    calendar(
      event("UID:a", "DTSTART:20260231T090000Z"),
      event("UID:b", "SUMMARY:never"),
      event("UID:c", "DTSTART:20260601T090000Z", "RRULE:FREQ=SECONDLY"),
      event("UID:d", "DTSTART:20260601T090000Z", "DURATION:soon"),
      event("UID:e", "DTSTART:20260605T090000Z", "ATTENDEE broken"),
    ),
  );

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z", "2026-06-05T09:00:00Z"]);
  assert.deepEqual([skipped, simplified], [3, 1]);
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

test("one bomb does not affect the good events beside it", async () => {
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

  const { starts, skipped, simplified } = await expand(bytes);

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z"]);
  assert.deepEqual([skipped, simplified], [0, 21]);
});

const quarterHours = event(
  ...["UID:bomb", "DTSTART:20260101T000000Z"],
  "RRULE:FREQ=HOURLY;BYMINUTE=0,15,30,45",
);
const hours = (uid: string) => event(`UID:${uid}`, "DTSTART:20260101T000000Z", "RRULE:FREQ=HOURLY");
const dentist = event("UID:good", "SUMMARY:Dentist", "DTSTART:20260601T090000Z");

test("of an oversized event the first occurrence is shown, and later events are", async () => {
  const { starts, simplified, reason } = await expand(calendar(quarterHours, dentist));

  assert.deepEqual(starts, ["2026-01-01T00:00:00Z", "2026-06-01T09:00:00Z"]);
  assert.equal(simplified, 1);
  assert.match(reason ?? "", /over 10000 occurrences/);
});

test("a single event is kept when repeating events exceed the limit", async () => {
  const bytes = calendar(hours("a"), hours("b"), dentist);

  const { events, skipped, reason } = await expand(bytes);

  assert.deepEqual([events.length, skipped], [365 * 24 + 1, 1]);
  assert.ok(events.some(({ title }) => title === "Dentist"));
  assert.match(reason ?? "", /8760 occurrences has no room/);
});

test("the first of too many single events are shown, and the others are counted", async () => {
  const singles = Array.from({ length: 10_005 }, (_, at) =>
    event(`UID:${at}`, "DTSTART:20260601T090000Z"),
  );

  const { feed } = await expand(calendar(...singles));
  // once more: a slow machine may need more than the processor time of one window to read them all
  const { events, skipped, reason } = await windowOf(feed);

  assert.deepEqual([events.length, skipped], [10_000, 5]);
  assert.match(reason ?? "", /over 10000 events/);
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
  test(`${what} is refused with a clear message`, async () => {
    await assert.rejects(Feed.read(Buffer.from(text), UTC), { code: "invalid", message });
  });
}

test("a broken line in the calendar header loses only that line", async () => {
  const lines = ["X-WR-CALNAME", "X-WR-TIMEZONE;BROKEN", "X-APPLE-CALENDAR-COLOR;=:"];

  const { starts } = await expand(calendar(...lines, event("UID:a", "DTSTART:20260601T090000Z")));

  assert.deepEqual(starts, ["2026-06-01T09:00:00Z"]);
});
