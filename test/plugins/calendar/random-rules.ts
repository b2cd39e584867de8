import * as fc from "fast-check";
import type { PlainRule } from "./brute-force.ts";

const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

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
export const RULES: fc.Arbitrary<PlainRule> = fc.oneof(
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

export const BOUNDS: fc.Arbitrary<{ count?: number; days?: number }> = fc.oneof(
  fc.constant({}),
  fc.integer({ min: 1, max: 40 }).map((count) => ({ count })),
  fc.integer({ min: 0, max: 3000 }).map((days) => ({ days })),
);
function withoutNumber(each: number): readonly [number, number] {
  return [0, each];
}

/** The value of an RRULE. */
export function ruleText(rule: PlainRule): string {
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
export function basic(wall: string): string {
  return `${wall.replaceAll(/[-:]/g, "")}00`;
}

export function addDays(wall: string, days: number): string {
  return new Date(Date.parse(`${wall}Z`) + days * 86_400_000).toISOString().slice(0, 16);
}

/** Looks for the instant at which the clock of a zone shows a time; in a gap, for the one it is moved to. */
export function instantOf(wall: string, timeZone: string): string {
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
