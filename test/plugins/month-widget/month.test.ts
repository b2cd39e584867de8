import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { eventsByDate, spansOf } from "../../../plugins/month-widget/widget/events.ts";
import {
  addDays,
  addMonths,
  minuteIn,
  monthOf,
  usualWeekStart,
  weekOf,
  weekStart,
} from "../../../plugins/month-widget/widget/month.ts";

test("a month is shown in whole weeks, starting with the locale's first weekday", () => {
  const european = monthOf("2026-11-20", 1);
  const american = monthOf("2026-11-20", 7);

  assert.deepEqual([european.dates[0], european.dates.at(-1)], ["2026-10-26", "2026-12-06"]);
  assert.deepEqual([american.dates[0], american.dates.at(-1)], ["2026-11-01", "2026-12-05"]);
  assert.equal(monthOf("2027-02-01", 1).weeks.length, 4);
});

test("weeks are numbered as ISO 8601 does", () => {
  const numbers = (date: string) => monthOf(date, 1).weeks.map(({ number }) => number);

  assert.deepEqual(numbers("2026-01-15"), [1, 2, 3, 4, 5]);
  assert.deepEqual(numbers("2027-01-15"), [53, 1, 2, 3, 4]);
});

test("date arithmetic works across months, years and DST changes", () => {
  assert.equal(addDays("2026-12-31", 1), "2027-01-01");
  assert.equal(addDays("2026-03-29", 1), "2026-03-30");
  assert.equal(addMonths("2026-01-31", 1), "2026-02-28");
  assert.equal(addMonths("2026-01-15", -1), "2025-12-15");
});

test("the first day of the week depends on the language", () => {
  assert.deepEqual(["de-DE", "en-US", "en-GB", "ar-EG"].map(weekStart), [1, 7, 1, 6]);
});

test("the first day of the week is the same in browsers without week data", () => {
  for (const locale of [
    "de",
    "en-US",
    "en-GB",
    "en",
    "ar",
    "fa",
    "he",
    "ja",
    "pt",
    "pt-PT",
    "dv",
  ]) {
    assert.equal(usualWeekStart(new Intl.Locale(locale)), weekStart(locale), locale);
  }
});

test("a week begins with the locale's first weekday, and one of fewer days with the chosen day", () => {
  assert.deepEqual(
    [weekOf("2026-11-20", 1)[0], weekOf("2026-11-20", 7)[0]],
    ["2026-11-16", "2026-11-15"],
  );
  assert.deepEqual(weekOf("2026-11-30", 1, 2), ["2026-11-30", "2026-12-01"]);
});

test("the minute of the day is that of the time zone, also after a DST change", () => {
  assert.equal(minuteIn(Date.parse("2026-03-29T12:00Z"), "Europe/Berlin"), 14 * 60);
  assert.equal(minuteIn(Date.parse("2026-11-20T23:30Z"), "Europe/Berlin"), 30);
});

test("an event is shown on each of its days, in the home's time zone", () => {
  const dates = monthOf("2026-11-01", 1).dates;
  const events = [
    event("party", [{ dateTime: "2026-11-20T22:00:00Z" }, { dateTime: "2026-11-21T01:00:00Z" }]),
    event("trip", [{ date: "2026-11-20" }, { date: "2026-11-22" }]),
    event("off", [{ date: "2026-11-20" }, { date: "2026-11-21" }], { status: "cancelled" }),
    event("work", [{ date: "2026-11-20" }, { date: "2026-11-21" }], { calendarId: "work" }),
  ];
  const choice = { timeZone: "Europe/Berlin", calendars: ["home"] };

  const byDate = eventsByDate(spansOf({ events, sources: [] }, choice), dates);

  const titles = (date: string) => byDate.get(date)?.map(({ title }) => title);
  assert.deepEqual(titles("2026-11-20"), ["trip", "party"]);
  assert.deepEqual(titles("2026-11-21"), ["party", "trip"]);
  assert.deepEqual(titles("2026-11-22"), []);
  assert.equal(byDate.get("2026-11-21")?.[0]?.startAt, undefined, "it began the day before");
});

test("only plain colour values are written into styles", () => {
  const bad = event("bad", [{ date: "2026-11-20" }, { date: "2026-11-21" }], { color: "url(x)" });
  const choice = { timeZone: "UTC", calendars: [] };

  const [shown] = spansOf({ events: [bad], sources: [] }, choice);

  assert.match(shown?.color ?? "", /^#[0-9a-f]{6}$/);
});

type Event = CalendarWindow["events"][number];
type When = { date: string } | { dateTime: string };

function event(
  title: string,
  [start, end]: readonly [When, When],
  more: Partial<Event> = {},
): Event {
  const bound = (when: When) => ("date" in when ? when : { ...when, timeZone: "Europe/Berlin" });
  return {
    id: title,
    calendarId: "home",
    uid: title,
    recurrenceId: null,
    title,
    start: bound(start),
    end: bound(end),
    allDay: "date" in start,
    busy: true,
    status: "confirmed",
    location: null,
    description: null,
    url: null,
    color: null,
    ...more,
  };
}
