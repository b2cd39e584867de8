import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { bruteForce, type PlainRule } from "./brute-force.ts";
import { calendar, event } from "./calendar-text.ts";
import { addDays, basic, BOUNDS, instantOf, RULES, ruleText } from "./random-rules.ts";

/** A run that fails prints its seed; `SEED=… npm test <this file>` repeats it, `RUNS=5000` looks longer. */
const SEED = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env["RUNS"] ?? 150);
const YEARS = 8;
const day = fc.integer({ min: 0, max: 20_000 }); // from 1990
const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");

test(`every rule matches a day-by-day search in every window (seed ${SEED})`, async () => {
  const inputs = fc.record({
    rule: RULES,
    bounds: BOUNDS,
    startDay: day,
    startHour: fc.integer({ min: 0, max: 23 }),
    zone,
    offset: fc.integer({ min: -10, max: 2500 }),
    length: fc.integer({ min: 1, max: 400 }),
    removed: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }),
  });

  await fc.assert(fc.asyncProperty(inputs, checkOne), { seed: SEED, numRuns: RUNS });
});

interface Input {
  readonly rule: PlainRule;
  readonly bounds: { readonly count?: number; readonly days?: number };
  /** Days since 1990. */
  readonly startDay: number;
  readonly startHour: number;
  readonly zone: string;
  /** Days from the start to the window, and of the window. */
  readonly offset: number;
  readonly length: number;
  /** The occurrences that EXDATE takes out. */
  readonly removed: readonly number[];
}

async function checkOne({
  bounds,
  startDay,
  startHour,
  zone: tzid,
  ...rest
}: Input): Promise<void> {
  const dayAt = (number: number) => new Date(Date.UTC(1990, 0, 1 + number));
  const start = `${dayAt(startDay).toISOString().slice(0, 10)}T${String(startHour).padStart(2, "0")}:00`;
  const until = bounds.days === undefined ? undefined : addDays(start, bounds.days);
  const rule = { ...rest.rule, count: bounds.count, until };
  const all = bruteForce(rule, start, Number(start.slice(0, 4)) + YEARS);
  const removed = all.filter((_, at) => rest.removed.includes(at));
  const [from, to] = [dayAt(startDay + rest.offset), dayAt(startDay + rest.offset + rest.length)];
  const instants = all
    .filter((each) => !removed.includes(each))
    .map((each) => instantOf(each, tzid))
    .filter((instant) => instant >= from.toISOString() && instant < to.toISOString());
  const lines = [
    `DTSTART;TZID=${tzid}:${basic(start)}`,
    `RRULE:${ruleText(rule)}`,
    ...removed.map((each) => `EXDATE;TZID=${tzid}:${basic(each)}`),
  ];

  const feed = await Feed.read(calendar(event("UID:a", ...lines)), findZone(tzid) ?? UTC);
  const span = { from: from.getTime(), to: to.getTime() };
  const { events, reason } = await feed.eventsIn(span, { calendarId: "a", color: "#112233" });

  const found = events.map((each) => ("dateTime" in each.start ? each.start.dateTime : ""));
  const sorted = found.map((each) => new Date(each).toISOString()).toSorted();
  assert.deepEqual(
    sorted,
    [...new Set(instants)].toSorted(),
    `${lines.join("\n")}\n${JSON.stringify(reason)}`,
  );
}
