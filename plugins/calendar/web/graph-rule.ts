import { MantelError, sentence } from "@mantel/plugin-sdk";
import { findWindows } from "windows-iana";
import { dayOf, type Moment } from "../ics/moment.ts";
import { parseRule, type Rule } from "../ics/recurrence.ts";
import { DAY_MS, type Zone } from "../ics/zones.ts";

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const INDEXES: ReadonlyMap<number, string> = new Map([
  [1, "first"],
  [2, "second"],
  [3, "third"],
  [4, "fourth"],
  [-1, "last"],
]);
const PARTS = /^(FREQ|INTERVAL|COUNT|UNTIL|WKST|BYDAY|BYMONTHDAY|BYMONTH|BYSETPOS)=/i;
/** Microsoft takes the last day of a shorter month for a later one; RFC 5545 leaves that month out. */
const LAST_DAY_OF_ALL_MONTHS = 28;

/** The name of a zone as Microsoft writes it. */
export function windowsZone({ name }: Zone): string {
  return findWindows(name)[0] ?? "UTC";
}

/**
 * A rule as a `patternedRecurrence` of Microsoft Graph 1.0.
 * @param text the value of an RRULE
 * @param start the start of the event, which has to be an occurrence of the rule
 * @param home the zone in which days begin
 * @throws MantelError `invalid` for a rule that Microsoft does not have
 */
export function recurrenceOf(text: string, start: Moment, home: Zone): object {
  const rule = parseRule(text, start);
  const isPlain = text.split(";").every((part) => PARTS.test(part));
  const pattern = isPlain ? patternOf(rule, new Date(start.wall)) : undefined;
  if (!pattern) throw otherRule();
  return { pattern: { ...pattern, interval: rule.interval }, range: rangeOf(rule, start, home) };
}

function otherRule(): MantelError {
  const told = sentence(
    "rule_at_microsoft",
    "Microsoft does not have this rule: repeat by days, by weeks, or on one day of a month or year",
  );
  const errors = [{ pointer: "/rrule", detail: told.text }];
  return new MantelError("invalid", told, { errors });
}

function patternOf(rule: Rule, start: Date): object | undefined {
  const has = PARTS_OF_DAYS.filter((name) => rule[name] !== undefined);
  switch (rule.freq) {
    case "DAILY":
      return has.length === 0 ? { type: "daily" } : undefined;
    case "WEEKLY":
      return has.every((name) => name === "day") ? weekly(rule, start) : undefined;
    case "MONTHLY":
      return has.includes("month") ? undefined : onOneDay("Monthly", rule, start);
    case "YEARLY":
      return yearly(rule, start);
    default:
      return undefined;
  }
}

const PARTS_OF_DAYS = ["month", "monthDay", "day", "setPos"] as const;

function yearly(rule: Rule, start: Date): object | undefined {
  const month = start.getUTCMonth() + 1;
  const isSame = (rule.month ?? [month]).join() === String(month);
  // without a month, weekdays count in the whole year
  const isInMonth = rule.day === undefined || rule.month !== undefined;
  const pattern = isSame && isInMonth ? onOneDay("Yearly", rule, start) : undefined;
  return pattern && { ...pattern, month };
}

/** On a date, or on a weekday by its position in the month. */
function onOneDay(kind: "Monthly" | "Yearly", rule: Rule, start: Date): object | undefined {
  const { monthDay, day, setPos } = rule;
  if (day === undefined) {
    const date = start.getUTCDate();
    const isSame = (monthDay ?? [date]).join() === String(date) && setPos === undefined;
    if (!isSame || date > LAST_DAY_OF_ALL_MONTHS) return undefined;
    return { type: `absolute${kind}`, dayOfMonth: date };
  }
  const index = monthDay === undefined ? indexOf(rule) : undefined;
  const weekday = day[0]?.weekday ?? -1;
  if (index === undefined || weekday !== start.getUTCDay()) return undefined;
  return { type: `relative${kind}`, daysOfWeek: [DAYS[weekday]], index };
}

function weekly({ day, weekStart }: Rule, start: Date): object | undefined {
  const own = start.getUTCDay();
  const days = day ?? [{ weekday: own, nth: 0 }];
  const isRight = days.every(({ nth }) => nth === 0) && days.some(({ weekday }) => weekday === own);
  if (!isRight) return undefined;
  return {
    type: "weekly",
    daysOfWeek: days.map(({ weekday }) => DAYS[weekday]),
    firstDayOfWeek: DAYS[weekStart],
  };
}

/** The position of the one weekday of a rule in its month: `BYDAY=2TU`, or `BYDAY=TU;BYSETPOS=2`. */
function indexOf({ day = [], setPos = [0] }: Rule): string | undefined {
  const [only] = day;
  const [position = 0] = setPos;
  if (!only || day.length > 1 || setPos.length > 1) return undefined;
  if (only.nth !== 0 && position !== 0) return undefined;
  return INDEXES.get(only.nth || position);
}

function rangeOf({ count, until }: Rule, start: Moment, home: Zone): object {
  const shared = {
    startDate: dateText(start.wall),
    recurrenceTimeZone: windowsZone(start.allDay ? home : start.zone),
  };
  if (count !== Infinity) return { ...shared, type: "numbered", numberOfOccurrences: count };
  if (until === Infinity) return { ...shared, type: "noEnd" };
  const time = start.wall - dayOf(start) * DAY_MS; // an occurrence of the last day may be too late
  return { ...shared, type: "endDate", endDate: dateText(until - time) };
}

function dateText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 10);
}
