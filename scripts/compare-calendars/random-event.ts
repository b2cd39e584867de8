import * as fc from "fast-check";
import { bruteForce, type PlainRule } from "../../test/plugins/calendar/brute-force.ts";
import { calendar, event } from "../../test/plugins/calendar/calendar-text.ts";
import {
  addDays,
  basic,
  BOUNDS,
  instantOf,
  RULES,
  ruleText,
} from "../../test/plugins/calendar/random-rules.ts";

/** A random event, as each engine gets it, and the window to compare. */
export interface RandomEvent {
  readonly text: string;
  /** The same for the other engines, if its rule leaves something out that they supply in another way than the RFC. */
  readonly plainText: string | undefined;
  /** Starts in this window are compared: ISO 8601, half open. */
  readonly from: string;
  readonly to: string;
  readonly rule: PlainRule;
  /** The starts of the rule by a day-by-day search, on its clock. */
  readonly starts: readonly string[];
  /** IANA name; `undefined` for whole days. */
  readonly zone: string | undefined;
  readonly overrides: number;
  readonly following: number;
  readonly cancelled: number;
  readonly removed: number;
  readonly added: number;
  readonly hasDuration: boolean;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const YEARS = 6;
/** Changed occurrences may move so far. */
const MARGIN_DAYS = 60;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];

const CHANGE = fc.record({
  at: fc.integer({ min: 0, max: 25 }),
  kind: fc.constantFrom("one", "one", "cancelled", "following", "following"),
  /** Quarters of an hour; for whole days, days. */
  by: fc.oneof(fc.integer({ min: -12, max: 12 }), fc.integer({ min: -300, max: 300 })),
  quarters: fc.integer({ min: 1, max: 120 }),
});
type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never;

const INPUT = fc.record({
  rule: RULES,
  bounds: BOUNDS,
  startDay: fc.integer({ min: 0, max: 18_000 }),
  hour: fc.integer({ min: 0, max: 23 }),
  zone: fc.option(fc.constantFrom(...ZONES), { nil: undefined, freq: 5 }),
  quarters: fc.integer({ min: 1, max: 200 }),
  hasDuration: fc.boolean(),
  removed: fc.uniqueArray(fc.integer({ min: 0, max: 25 }), { maxLength: 3 }),
  added: fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 2 }),
  changes: fc.uniqueArray(CHANGE, { maxLength: 4, selector: ({ at }) => at }),
  offset: fc.oneof(fc.integer({ min: -10, max: 200 }), fc.integer({ min: -10, max: 1500 })),
  length: fc.integer({ min: 30, max: 600 }),
});
type Input = typeof INPUT extends fc.Arbitrary<infer T> ? T : never;

/** Random events whose rules have occurrences; the same ones for the same seed. */
export function randomEvents(count: number, seed: number): RandomEvent[] {
  const found: RandomEvent[] = [];
  for (let part = 0; found.length < count; part++) {
    const inputs = fc.sample(INPUT, { seed: seed + part * 7_919, numRuns: count });
    for (const input of inputs) {
      const made = found.length < count ? eventOf(input) : undefined;
      if (made) found.push(made);
    }
  }
  return found;
}

/** Dates and times of one event on its clock. */
interface Clock {
  readonly zone: string | undefined;
}

function eventOf(input: Input): RandomEvent | undefined {
  const { zone, quarters, bounds } = input;
  const clock: Clock = { zone };
  const rule = zone === undefined ? { ...input.rule, hour: undefined } : input.rule;
  const first = firstStart(input, rule);
  if (first === undefined) return undefined;
  const until = bounds.days === undefined ? undefined : addDays(first, bounds.days);
  const bounded = { ...rule, count: bounds.count, until };
  const starts = bruteForce(bounded, first, Number(first.slice(0, 4)) + YEARS);
  const removed = starts.filter((_, at) => input.removed.includes(at));
  const changes = input.changes.flatMap((change) => {
    const origin = starts[change.at];
    return origin === undefined || removed.includes(origin) ? [] : [{ ...change, origin }];
  });
  const added = input.added.map((days) => addDays(first, days).replace(/:00$/, ":15"));
  const masterOf = (ruleInWords: string) =>
    event(
      "UID:a",
      "DTSTAMP:20260101T000000Z",
      `DTSTART${valueOf(first, clock)}`,
      lengthOf(first, quarters, { ...clock, hasDuration: input.hasDuration }),
      `RRULE:${ruleInWords}${untilOf(until, clock)}`,
      ...removed.map((each) => `EXDATE${valueOf(each, clock)}`),
      ...added.map((each) => `RDATE${valueOf(each, clock)}`),
      "SUMMARY:series",
    );
  const overrides = changes.map((change) => overrideOf(change, clock));
  const textOf = (told: PlainRule) => {
    const words = ruleText({ ...told, count: bounds.count });
    return calendar("PRODID:-//random//EN", masterOf(words), ...overrides).toString();
  };
  const day = plainDays(rule, first);
  const windowAt = (days: number) =>
    new Date(Date.parse(`${first.slice(0, 10)}Z`) + days * DAY_MS).toISOString();
  const kinds = changes.map(({ kind }) => kind);
  return {
    text: textOf(rule),
    plainText: day === undefined ? undefined : textOf({ ...rule, day }),
    from: windowAt(input.offset),
    to: windowAt(input.offset + input.length),
    rule: bounded,
    starts: starts.filter((each) => each < windowAt(input.offset + input.length + MARGIN_DAYS)),
    zone,
    overrides: overrides.length,
    following: kinds.filter((kind) => kind === "following").length,
    cancelled: kinds.filter((kind) => kind === "cancelled").length,
    removed: removed.length,
    added: added.length,
    hasDuration: input.hasDuration,
  };
}

/**
 * The days of a rule in full, if they are not. Without BYDAY the day of a week comes from DTSTART, but dateutil takes
 * every day. Days without a number are every such day, but dateutil wants a number for all if one has it.
 */
function plainDays({ freq, day, weekNo, month }: PlainRule, first: string): PlainRule["day"] {
  if (weekNo && !day) return [[0, new Date(`${first}Z`).getUTCDay()]];
  const hasBoth = new Set(day?.map(([nth]) => nth === 0)).size > 1;
  if (!day || !hasBoth) return undefined;
  const most = freq === "MONTHLY" || month ? 5 : 53;
  return day.flatMap(([nth, weekday]) =>
    nth === 0
      ? Array.from({ length: most }, (_, at) => [at + 1, weekday] as const)
      : [[nth, weekday] as const],
  );
}

/** A start that the rule itself gives: without it the result is undefined (RFC 5545, 3.8.5.3). */
function firstStart({ startDay, hour, zone }: Input, rule: PlainRule): string | undefined {
  const day = new Date(Date.UTC(1990, 0, 1 + startDay)).toISOString().slice(0, 10);
  const time = zone === undefined ? "00:00" : `${String(hour).padStart(2, "0")}:00`;
  const start = `${day}T${time}`;
  const year = Number(day.slice(0, 4));
  return bruteForce(rule, start, year)[1] ?? bruteForce(rule, start, year + YEARS)[1];
}

function overrideOf(
  { origin, kind, by, quarters }: Change & { readonly origin: string },
  clock: Clock,
): string {
  const start = moved(origin, clock.zone === undefined ? by % 20 : by, clock);
  const range = kind === "following" ? ";RANGE=THISANDFUTURE" : "";
  return event(
    "UID:a",
    "DTSTAMP:20260101T000000Z",
    `RECURRENCE-ID${range}${valueOf(origin, clock)}`,
    `DTSTART${valueOf(kind === "cancelled" ? origin : start, clock)}`,
    lengthOf(start, quarters, { ...clock, hasDuration: true }),
    ...(kind === "cancelled" ? ["STATUS:CANCELLED"] : []),
    `SUMMARY:${kind} ${origin}`,
  );
}

function moved(wall: string, by: number, { zone }: Clock): string {
  const step = zone === undefined ? DAY_MS : 15 * MINUTE_MS;
  return new Date(Date.parse(`${wall}Z`) + by * step).toISOString().slice(0, 16);
}

/** Parameters and value of a property with a start. */
function valueOf(wall: string, { zone }: Clock): string {
  if (zone === undefined) return `;VALUE=DATE:${basic(wall).slice(0, 8)}`;
  return zone === "UTC" ? `:${basic(wall)}Z` : `;TZID=${zone}:${basic(wall)}`;
}

function untilOf(until: string | undefined, { zone }: Clock): string {
  if (until === undefined) return "";
  if (zone === undefined) return `;UNTIL=${basic(until).slice(0, 8)}`;
  return `;UNTIL=${basic(instantOf(until, zone).slice(0, 16))}Z`;
}

function lengthOf(
  start: string,
  quarters: number,
  { zone, hasDuration }: Clock & { readonly hasDuration: boolean },
): string {
  const days = 1 + (quarters % 4);
  if (!hasDuration) {
    const by = zone === undefined ? days : quarters;
    return `DTEND${valueOf(moved(start, by, { zone }), { zone })}`;
  }
  if (zone === undefined) return `DURATION:P${days}D`;
  const [hours, minutes] = [Math.floor((quarters % 96) / 4), (quarters % 4) * 15];
  const whole = quarters >= 96 ? `${Math.floor(quarters / 96)}D` : "";
  return `DURATION:P${whole}T${hours}H${minutes}M`;
}
