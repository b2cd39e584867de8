import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { bruteForce, type PlainRule } from "./brute-force.ts";
import { calendar, event } from "./calendar-text.ts";

/** A run that fails prints its seed; `SEED=… npm test <this file>` repeats it, `RUNS=5000` looks longer. */
const SEED = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env["RUNS"] ?? 150);
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
const YEARS = 8;

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const some = (from: number, to: number, { signed = false, most = 3 } = {}) => {
  const size = fc.integer({ min: from, max: to });
  const number = signed ? fc.tuple(size, fc.boolean()).map(([n, minus]) => (minus ? -n : n)) : size;
  return optional(fc.uniqueArray(number, { minLength: 1, maxLength: most }));
};
const weekday = fc.integer({ min: 0, max: 6 });
const plainDays = optional(
  fc.uniqueArray(weekday, { minLength: 1, maxLength: 4 }).map((days) => days.map(withoutNumber)),
);
const numberedDays = (most: number) =>
  optional(
    fc.array(fc.tuple(fc.integer({ min: -most, max: most }), weekday), {
      minLength: 1,
      maxLength: 3,
    }),
  );

/** The ends of the year, where weeks are hard, come more often. */
const weeks = fc.oneof(
  some(1, 53, { signed: true }),
  fc.constantFrom([1], [52], [53], [-1], [-52]),
);

/** The parts that every rule may have. */
const COMMON = {
  interval: fc.integer({ min: 1, max: 4 }),
  weekStart: weekday,
  month: some(1, 12),
  hour: some(0, 23),
  setPos: some(1, 5, { signed: true, most: 2 }),
};
const freq = <F extends PlainRule["freq"]>(name: F) => fc.constant(name);

/** Only rules that RFC 5545, 3.3.10, allows, so that there is one answer. */
const RULES: fc.Arbitrary<PlainRule> = fc.oneof(
  fc.record({
    ...COMMON,
    freq: freq("DAILY"),
    monthDay: some(1, 31, { signed: true }),
    day: plainDays,
  }),
  fc.record({ ...COMMON, freq: freq("WEEKLY"), day: plainDays }),
  fc.record({
    ...COMMON,
    freq: freq("MONTHLY"),
    day: numberedDays(5),
    monthDay: some(1, 31, { signed: true }),
  }),
  fc.record({ ...COMMON, freq: freq("YEARLY"), day: numberedDays(6) }),
  fc.record({
    ...COMMON,
    freq: freq("YEARLY"),
    day: plainDays,
    monthDay: some(1, 31, { signed: true }),
    yearDay: some(1, 366, { signed: true }),
  }),
  fc.record({
    ...COMMON,
    freq: freq("YEARLY"),
    day: plainDays,
    weekNo: weeks,
  }),
);

const BOUNDS = fc.oneof(
  fc.constant({}),
  fc.integer({ min: 1, max: 40 }).map((count) => ({ count })),
  fc.integer({ min: 0, max: 3000 }).map((days) => ({ days })),
);
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
  /** Which occurrences are taken out by EXDATE. */
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
  assert.deepEqual(sorted, [...new Set(instants)].toSorted(), `${lines.join("\n")}\n${reason}`);
}

function withoutNumber(each: number): readonly [number, number] {
  return [0, each];
}

function ruleText(rule: PlainRule): string {
  const list = (name: string, values?: readonly (number | string)[]) =>
    values ? [`${name}=${values.join(",")}`] : [];
  const days = rule.day?.map(([nth, each]) => `${nth || ""}${DAYS[each]}`);
  return [
    `FREQ=${rule.freq};INTERVAL=${rule.interval};WKST=${DAYS[rule.weekStart]}`,
    ...(rule.count ? [`COUNT=${rule.count}`] : []),
    ...(rule.until ? [`UNTIL=${basic(rule.until)}`] : []),
    ...list("BYMONTH", rule.month),
    ...list("BYWEEKNO", rule.weekNo),
    ...list("BYYEARDAY", rule.yearDay),
    ...list("BYMONTHDAY", rule.monthDay),
    ...list("BYDAY", days),
    ...list("BYHOUR", rule.hour),
    ...list("BYSETPOS", rule.setPos),
  ].join(";");
}

/** `2026-06-01T09:00` as `20260601T090000`. */
function basic(wall: string): string {
  return `${wall.replaceAll(/[-:]/g, "")}00`;
}

function addDays(wall: string, days: number): string {
  return new Date(Date.parse(`${wall}Z`) + days * 86_400_000).toISOString().slice(0, 16);
}

/** Looks for the instant at which the clock of a zone shows a time; in a gap, for the one it is moved to. */
function instantOf(wall: string, timeZone: string): string {
  const shown = (instant: number) =>
    new Date(instant).toLocaleString("sv-SE", { timeZone }).replace(" ", "T").slice(0, 16);
  const asUtc = Date.parse(`${wall}Z`);
  const offsets = [-26, 26].map(
    (hours) => Date.parse(`${shown(asUtc + hours * 3_600_000)}Z`) - asUtc - hours * 3_600_000,
  );
  const candidates = offsets.map((offset) => asUtc - offset).toSorted((a, b) => a - b);
  const exact = candidates.find((instant) => shown(instant) === wall);
  return new Date(exact ?? asUtc - (offsets[0] ?? 0)).toISOString();
}
