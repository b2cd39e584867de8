import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import {
  changesOf,
  creationOf,
  fieldsOf,
  hasTimes,
  newFields,
  withAllDay,
  withStart,
} from "../../../../host/dashboard/calendar/event-fields.ts";

const BERLIN = "Europe/Berlin";

const event = (changes: Partial<CalendarEvent> = {}): CalendarEvent => ({
  id: "family/1/2026-11-20T08:00:00Z",
  calendarId: "family",
  uid: "1",
  recurrenceId: null,
  title: "Dentist",
  start: { dateTime: "2026-11-20T09:00:00+01:00", timeZone: BERLIN },
  end: { dateTime: "2026-11-20T10:30:00+01:00", timeZone: BERLIN },
  allDay: false,
  status: "confirmed",
  busy: true,
  location: null,
  description: null,
  url: null,
  color: null,
  ...changes,
});
const days = event({
  allDay: true,
  start: { date: "2026-11-20" },
  end: { date: "2026-11-22" },
});

test("a form has the local times of the zone of an event", () => {
  const tokyo = { dateTime: "2026-11-20T09:00:00+09:00", timeZone: "Asia/Tokyo" };
  const { start, end, timeZone } = fieldsOf(event(), "Asia/Tokyo");

  assert.deepEqual([start, end, timeZone], ["2026-11-20T09:00", "2026-11-20T10:30", BERLIN]);
  assert.equal(fieldsOf(event({ start: tokyo }), BERLIN).start, "2026-11-20T09:00");
});

test("an event in UTC is shown in the zone of the home", () => {
  const start = { dateTime: "2026-11-20T08:00:00Z", timeZone: "UTC" };

  const fields = fieldsOf(event({ start }), BERLIN);

  assert.deepEqual([fields.start, fields.timeZone], ["2026-11-20T09:00", BERLIN]);
});

test("the end of whole days is the last day in a form, and the day after it in an event", () => {
  const fields = fieldsOf(days, BERLIN);

  assert.deepEqual([fields.start, fields.end], ["2026-11-20", "2026-11-21"]);
  assert.deepEqual(creationOf(fields), {
    title: "Dentist",
    start: { date: "2026-11-20" },
    end: { date: "2026-11-22" },
  });
});

test("a new event takes the hour from nine, in the chosen zone, and repeats by its rule", () => {
  const fields = { ...newFields("2026-07-01", BERLIN), title: "Run", rrule: "FREQ=DAILY" };

  assert.deepEqual(creationOf({ ...fields, location: "Park" }), {
    title: "Run",
    start: { dateTime: "2026-07-01T07:00:00Z", timeZone: BERLIN },
    end: { dateTime: "2026-07-01T08:00:00Z", timeZone: BERLIN },
    location: "Park",
    rrule: "FREQ=DAILY",
  });
});

test("only what was changed is sent", () => {
  const before = fieldsOf(event({ location: "Mill Road" }), BERLIN);

  assert.deepEqual(changesOf(before, before), {});
  assert.deepEqual(changesOf(before, { ...before, title: "Choir", location: "" }), {
    title: "Choir",
    location: null,
  });
  assert.deepEqual(changesOf(before, { ...before, timeZone: "UTC" }), {
    start: { dateTime: "2026-11-20T09:00:00Z", timeZone: "UTC" },
    end: { dateTime: "2026-11-20T10:30:00Z", timeZone: "UTC" },
  });
});

test("the end follows the start, and whole days become times and back", () => {
  const fields = withStart(fieldsOf(event(), BERLIN), "2026-11-30T23:00");
  const whole = withAllDay(fields, true);

  assert.equal(fields.end, "2026-12-01T00:30");
  assert.deepEqual([whole.start, whole.end], ["2026-11-30", "2026-12-01"]);
  assert.equal(withStart(whole, "2026-12-24").end, "2026-12-25");
  assert.equal(withStart(whole, "").end, "2026-12-01");
  assert.equal(withAllDay(whole, false).end, "2026-12-01T10:00");
  assert.equal(
    withAllDay(withAllDay(newFields("2026-12-01", BERLIN), true), false).end,
    "2026-12-01T10:00",
  );
});

test("an end before the start, or a missing time, is reported", () => {
  const fields = newFields("2026-07-01", BERLIN);

  assert.equal(hasTimes(fields), true);
  assert.equal(hasTimes({ ...fields, end: "2026-07-01T08:59" }), false);
  assert.equal(hasTimes({ ...fields, start: "" }), false);
});
