import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { daysOf } from "../../../plugins/agenda-widget/widget/days.ts";

const NOW = Date.parse("2026-11-20T18:42:00+01:00");

test("events are grouped by today, tomorrow and later days", () => {
  const days = show([
    timed("choir", "2026-11-20T19:00:00+01:00", "2026-11-20T21:00:00+01:00"),
    timed("swim", "2026-11-21T09:15:00+01:00", "2026-11-21T10:00:00+01:00"),
    timed("trip", "2026-11-24T08:00:00+01:00", "2026-11-24T10:00:00+01:00"),
  ]);

  assert.deepEqual(days, ["today: choir", "tomorrow: swim", "later 2026-11-24: trip"]);
});

test("ended and cancelled events are omitted, running ones are kept", () => {
  const days = show([
    timed("over", "2026-11-20T10:00:00+01:00", "2026-11-20T18:42:00+01:00"),
    timed("running", "2026-11-20T18:00:00+01:00", "2026-11-20T19:00:00+01:00"),
    {
      ...timed("off", "2026-11-20T20:00:00+01:00", "2026-11-20T21:00:00+01:00"),
      status: "cancelled",
    },
  ]);

  assert.deepEqual(days, ["today: running"]);
});

test("an all-day event comes first, ends with its last day, and counts as today's when it began before", () => {
  const days = show([
    timed("choir", "2026-11-20T19:00:00+01:00", "2026-11-20T21:00:00+01:00"),
    allDay("holiday", "2026-11-18", "2026-11-22"),
    allDay("yesterday", "2026-11-19", "2026-11-20"),
    allDay("market", "2026-11-21", "2026-11-22"),
  ]);

  assert.deepEqual(days, ["today: holiday, choir", "tomorrow: market"]);
});

test("a day follows the home's time zone, not the event's or the browser's", () => {
  const event = timed("late", "2026-11-20T23:30:00Z", "2026-11-21T00:30:00Z");

  assert.deepEqual(show([event], { timeZone: "Europe/Berlin" }), ["today: ", "tomorrow: late"]);
  assert.deepEqual(show([event], { timeZone: "Europe/London" }), ["today: late"]);
});

test("the number of shown events is limited by the space", () => {
  const events = ["19:00", "20:00", "21:00"].map((at) =>
    timed(at, `2026-11-20T${at}:00+01:00`, `2026-11-20T22:00:00+01:00`),
  );

  assert.deepEqual(show(events, { most: 2 }), ["today: 19:00, 20:00"]);
});

test("a day without events is still shown as today", () => {
  assert.deepEqual(show([]), ["today: "]);
});

function show(
  events: CalendarEvent[],
  { timeZone = "Europe/Berlin", most = 10 }: { timeZone?: string; most?: number } = {},
): string[] {
  const window = {
    start: "2026-11-19T23:00:00Z",
    end: "2026-12-03T23:00:00Z",
    events,
    sources: [],
  };
  return daysOf(window, { now: NOW, timeZone, most }).map(
    ({ name, date, entries }) =>
      `${name}${name === "later" ? ` ${date}` : ""}: ${entries.map(({ event }) => event.title).join(", ")}`,
  );
}

function timed(title: string, start: string, end: string): CalendarEvent {
  return eventOf(title, {
    start: { dateTime: start, timeZone: "Europe/Berlin" },
    end: { dateTime: end, timeZone: "Europe/Berlin" },
  });
}

function allDay(title: string, start: string, end: string): CalendarEvent {
  return eventOf(title, { start: { date: start }, end: { date: end } });
}

function eventOf(title: string, span: Pick<CalendarEvent, "start" | "end">): CalendarEvent {
  return {
    ...span,
    id: title,
    calendarId: "home",
    uid: title,
    recurrenceId: null,
    title,
    allDay: "date" in span.start,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
  };
}
