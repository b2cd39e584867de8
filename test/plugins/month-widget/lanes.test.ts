import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../../../plugins/month-widget/widget/events.ts";
import { barsOf, blocksOf } from "../../../plugins/month-widget/widget/lanes.ts";

const WEEK = ["16", "17", "18", "19", "20", "21", "22"].map((day) => ({ date: `2026-11-${day}` }));

test("bars cover their days; those at the same time are on lines of their own, and a free line is used again", () => {
  const spans = [
    days("trip", "2026-11-17", "2026-11-19"),
    days("school", "2026-11-10", "2026-11-17"),
    days("bins", "2026-11-18", "2026-11-18"),
    days("visit", "2026-11-21", "2026-11-25"),
    days("next week", "2026-11-23", "2026-11-24"),
  ];

  const bars = barsOf(spans, WEEK).map(({ span, ...bar }) => ({ title: span.title, ...bar }));

  assert.deepEqual(bars, [
    { title: "school", from: 0, columns: 2, lane: 0, before: true, after: false },
    { title: "trip", from: 1, columns: 3, lane: 1, before: false, after: false },
    { title: "bins", from: 2, columns: 1, lane: 0, before: false, after: false },
    { title: "visit", from: 5, columns: 2, lane: 0, before: false, after: true },
  ]);
});

test("a timed event of a day or longer is a bar, and one over midnight is a part of both days", () => {
  const course = timed("course", "2026-11-16T08:00Z", "2026-11-18T16:00Z");
  const night = timed("night shift", "2026-11-16T22:00Z", "2026-11-17T06:00Z");
  const [monday, tuesday] = WEEK.map((day) => blocksOf([course, night], day, "UTC"));

  assert.deepEqual(
    barsOf([course, night], WEEK).map(({ columns }) => columns),
    [3],
  );
  assert.deepEqual(placesOf(monday), [["night shift", 22 * 60, 24 * 60, "1 of 1"]]);
  assert.deepEqual(placesOf(tuesday), [["night shift", 0, 6 * 60, "1 of 1"]]);
});

test("events at the same time are side by side, those before and after have the whole width", () => {
  const spans = [
    timed("breakfast", "2026-11-16T07:00Z", "2026-11-16T08:00Z"),
    timed("school", "2026-11-16T08:00Z", "2026-11-16T12:00Z"),
    timed("course", "2026-11-16T09:00Z", "2026-11-16T10:00Z"),
    timed("call", "2026-11-16T10:00Z", "2026-11-16T10:05Z"),
    timed("lunch", "2026-11-16T12:00Z", "2026-11-16T13:00Z"),
  ];

  assert.deepEqual(placesOf(blocksOf(spans, { date: "2026-11-16" }, "UTC")), [
    ["breakfast", 420, 480, "1 of 1"],
    ["school", 480, 720, "1 of 2"],
    ["course", 540, 600, "2 of 2"],
    ["call", 600, 630, "2 of 2"],
    ["lunch", 720, 780, "1 of 1"],
  ]);
});

test("an event just before midnight is drawn within its day", () => {
  const late = timed("late", "2026-11-16T23:50Z", "2026-11-16T23:55Z");

  const [block] = blocksOf([late], { date: "2026-11-16" }, "UTC");

  assert.deepEqual([block?.from, block?.to], [1410, 1440]);
});

test("a column of a calendar has the events of that calendar only", () => {
  const spans = [
    { ...timed("choir", "2026-11-16T19:00Z", "2026-11-16T20:00Z"), calendarId: "mara" },
    { ...days("bins", "2026-11-16", "2026-11-16"), calendarId: "home" },
  ];
  const columns = ["home", "mara"].map((calendarId) => ({ date: "2026-11-16", calendarId }));

  assert.deepEqual(
    columns.map((column) => blocksOf(spans, column, "UTC").map(({ span }) => span.title)),
    [[], ["choir"]],
  );
  assert.deepEqual(
    barsOf(spans, columns).map(({ from, columns: count }) => [from, count]),
    [[0, 1]],
  );
});

function placesOf(blocks: ReturnType<typeof blocksOf> = []): unknown[] {
  return blocks.map(({ span, from, to, side, sides }) => [
    span.title,
    from,
    to,
    `${side + 1} of ${sides}`,
  ]);
}

function days(title: string, first: string, last: string): Span {
  const event = {} as Span["event"];
  return { title, first, last, color: "#aa0000", location: null, calendarId: "home", event };
}

function timed(title: string, from: string, to: string): Span {
  const [startAt, endAt] = [Date.parse(from), Date.parse(to)];
  const last = new Date(endAt - 1).toISOString().slice(0, 10);
  return { ...days(title, from.slice(0, 10), last), startAt, endAt };
}
