import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { busySpans } from "../../../host/calendar/busy.ts";
import { withBounds } from "../../../host/calendar/select.ts";

const WINDOW = {
  start: "2026-06-01T00:00:00.000Z",
  end: "2026-06-03T00:00:00.000Z",
  timeZone: "Europe/Berlin",
};

function event(
  calendarId: string,
  start: string,
  end: string,
  more: Partial<CalendarEvent> = {},
): CalendarEvent {
  const bound = (at: string) =>
    at.length === 10 ? { date: at } : { dateTime: `2026-06-${at}:00Z`, timeZone: "UTC" };
  return {
    id: `${calendarId}/${start}`,
    calendarId,
    uid: start,
    recurrenceId: null,
    title: "",
    start: bound(start),
    end: bound(end),
    allDay: start.length === 10,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
    ...more,
  };
}

const spans = (...events: CalendarEvent[]) =>
  busySpans({ window: WINDOW, events: withBounds(events) }).map(({ start, end, calendars }) => [
    `${start.slice(8, 16)} to ${end.slice(8, 16)}`,
    ...calendars,
  ]);

test("spans that overlap or meet are one, with all of their calendars", () => {
  const found = spans(
    event("ben", "01T10:30", "01T11:00"),
    event("ann", "01T09:00", "01T10:00"),
    event("ann", "01T10:00", "01T10:45"),
    event("ann", "01T12:00", "01T13:00"),
  );

  assert.deepEqual(found, [
    ["01T09:00 to 01T11:00", "ann", "ben"],
    ["01T12:00 to 01T13:00", "ann"],
  ]);
});

test("a span within another one does not shorten it", () => {
  const found = spans(event("a", "01T09:00", "01T12:00"), event("a", "01T10:00", "01T11:00"));

  assert.deepEqual(found, [["01T09:00 to 01T12:00", "a"]]);
});

test("whole days last from midnight to midnight of the zone, and everything ends with the window", () => {
  assert.deepEqual(spans(event("a", "2026-06-02", "2026-06-03")), [["01T22:00 to 02T22:00", "a"]]);
  assert.deepEqual(spans(event("a", "2026-05-20", "2026-06-20")), [["01T00:00 to 03T00:00", "a"]]);
});

test("events that are free, cancelled or without length are not busy", () => {
  const found = spans(
    event("a", "01T09:00", "01T10:00", { busy: false }),
    event("a", "01T10:00", "01T11:00", { status: "cancelled" }),
    event("a", "01T12:00", "01T12:00"),
  );

  assert.deepEqual(found, []);
});
