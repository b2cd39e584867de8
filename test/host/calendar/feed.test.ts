import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import ICAL from "ical.js";
import { CalendarFeed } from "../../../host/calendar/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";

const timed = (dateTime: string) => ({ dateTime, timeZone: "Europe/Berlin" });
const TITLE = "Grüße, \\ an; alle 🎂 " + "sehr lang ".repeat(20);

function makeEvent(part: Partial<CalendarEvent> = {}): CalendarEvent {
  return {
    id: "home/a/1",
    calendarId: "home",
    uid: "a",
    recurrenceId: null,
    title: "zoo",
    start: timed("2026-06-01T09:00:00+02:00"),
    end: timed("2026-06-01T10:00:00+02:00"),
    allDay: false,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
    ...part,
  };
}

const ALL_DAY = makeEvent({
  id: "home/b/1",
  allDay: true,
  busy: false,
  title: TITLE,
  start: { date: "2026-06-02" },
  end: { date: "2026-06-04" },
});

function makeWindow(...events: CalendarEvent[]): CalendarWindow {
  const source = { id: "home", name: "Home; ours", color: "#112233", status: "ok" } as const;
  const fetchedAt = new Date().toISOString();
  const [start, end] = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"];
  return { start, end, events, sources: [{ ...source, fetchedAt }] };
}

async function write(...events: CalendarEvent[]) {
  const feed = new CalendarFeed();
  feed.accept(makeWindow(...events));
  const { body, etag } = await feed.current();
  const text = body.toString();
  return { feed, text, etag, parsed: new ICAL.Component(ICAL.parse(text) as unknown[]) };
}

test("exported events are read correctly by another program", async () => {
  const { parsed } = await write(
    makeEvent({
      location: "Gate 1\nleft",
      description: "a,b;c\\d",
      url: "https://zoo.example/?a=1,2",
    }),
    ALL_DAY,
    makeEvent({ id: "home/c/1", status: "cancelled" }),
  );

  const [first, second, third] = parsed.getAllSubcomponents("vevent");
  const read = new ICAL.Event(first);
  assert.equal(read.startDate.toJSDate().toISOString(), "2026-06-01T07:00:00.000Z");
  assert.equal(read.endDate.toJSDate().toISOString(), "2026-06-01T08:00:00.000Z");
  assert.deepEqual([read.location, read.description], ["Gate 1\nleft", "a,b;c\\d"]);
  assert.equal(first?.getFirstPropertyValue("url"), "https://zoo.example/?a=1,2");
  assert.equal(first?.getFirstPropertyValue("categories"), "Home; ours");
  assert.equal(second?.getFirstPropertyValue("summary"), TITLE);
  assert.equal(String(second?.getFirstPropertyValue("dtstart")), "2026-06-02");
  assert.equal(String(second?.getFirstPropertyValue("dtend")), "2026-06-04");
  assert.equal(second?.getFirstPropertyValue("transp"), "TRANSPARENT");
  assert.equal(third?.getFirstPropertyValue("status"), "CANCELLED");
});

test("the categories of an event follow the name of its calendar", async () => {
  const { parsed } = await write(makeEvent({ categories: ["Food, drink", "Work"] }));

  const [event] = parsed.getAllSubcomponents("vevent");
  const categories = event?.getFirstProperty("categories")?.getValues();
  assert.deepEqual(categories, ["Home; ours", "Food, drink", "Work"]);
});

test("the meeting of an event is exported", async () => {
  const { text } = await write(makeEvent({ conference: "https://zoom.us/j/1" }));

  assert.match(text, /^CONFERENCE;VALUE=URI:https:\/\/zoom\.us\/j\/1\r$/m);
});

test("lines end with CRLF and have at most 75 octets, without splitting a character", async () => {
  const { text } = await write(makeEvent({ title: "🎂".repeat(200) }), ALL_DAY);

  assert.equal(text.replaceAll("\r\n", "").search(/[\r\n]/), -1);
  for (const line of text.split("\r\n")) {
    assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.doesNotMatch(line, /\ufffd/);
  }
  assert.match(text, /^BEGIN:VCALENDAR\r\nVERSION:2\.0\r\nPRODID:/);
  assert.match(text, /END:VEVENT\r\nEND:VCALENDAR\r\n$/);
});

test("each event has a UID of its own and a stamp", async () => {
  const { parsed } = await write(
    makeEvent({ id: "home/a/1", recurrenceId: "1" }),
    makeEvent({ id: "home/a/2", recurrenceId: "2" }),
  );

  const events = parsed.getAllSubcomponents("vevent");
  const uids = events.map((event) => event.getFirstPropertyValue("uid"));
  assert.equal(new Set(uids).size, 2);
  for (const event of events) assert.ok(event.getFirstPropertyValue("dtstamp"));
});

test("a text cannot inject a property or component", async () => {
  const { parsed, text } = await write(
    makeEvent({
      title: "a\r\nEND:VEVENT\rBEGIN:VALARM\nx\u0000\u001b[0m",
      url: "https://a.example/\r\nATTACH:b",
    }),
  );

  const [event] = parsed.getAllSubcomponents("vevent");
  assert.equal(event?.getFirstPropertyValue("summary"), "a\nEND:VEVENT\nBEGIN:VALARM\nx[0m");
  assert.doesNotMatch(text, /^(BEGIN:VALARM|ATTACH)/m);
});

test("an event that ends with the last year of a zone behind UTC ends in four digits", async () => {
  const { text } = await write(makeEvent({ end: timed("9999-12-31T23:59:59-08:00") }));

  assert.match(text, /^DTEND:99991231T235959Z\r$/m);
});

test("an event without duration has no end, and nonexistent times are omitted", async () => {
  const start = timed("2026-06-01T09:00:00+02:00");
  const { text, parsed } = await write(
    makeEvent({ end: start }),
    makeEvent({ id: "x", start: timed("2026-02-30T99:00:00Z") }),
  );

  assert.equal(parsed.getAllSubcomponents("vevent").length, 1);
  assert.doesNotMatch(text, /DTEND/);
});

test("the file and its tag are the same until an event changes", async () => {
  const { feed, text, etag } = await write(makeEvent());

  feed.accept(makeWindow(makeEvent()));
  assert.deepEqual((await feed.current()).etag, etag);
  assert.equal((await feed.current()).body.toString(), text);
  feed.accept(makeWindow(makeEvent({ title: "museum" })));
  assert.notEqual((await feed.current()).etag, etag);
});

test("Mantel reads its own feed as the same events", async () => {
  const { text } = await write(makeEvent({ description: "a\nb" }), ALL_DAY);
  const berlin = findZone("Europe/Berlin") ?? UTC;
  const source = new Source({ id: "again", fallbackName: "again", floating: berlin });
  await source.read([Buffer.from(text)], new Date());

  const year = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
  const { events } = await source.eventsIn(year);

  assert.deepEqual(
    events.map(({ title, start, description, busy }) => ({ title, start, description, busy })),
    [
      {
        title: "zoo",
        start: { dateTime: "2026-06-01T07:00:00Z", timeZone: "UTC" },
        description: "a\nb",
        busy: true,
      },
      { title: TITLE.trim(), start: { date: "2026-06-02" }, description: null, busy: false },
    ],
  );
  assert.equal(source.view().name, "Mantel");
});

test("without calendars there is no feed, and an empty calendar gives an empty one", async () => {
  const feed = new CalendarFeed();
  assert.throws(() => feed.current(), { code: "service_unavailable" });

  feed.accept(makeWindow());
  assert.match((await feed.current()).body.toString(), /^BEGIN:VCALENDAR/);
  feed.accept(undefined);
  assert.throws(() => feed.current(), { code: "service_unavailable" });
});
