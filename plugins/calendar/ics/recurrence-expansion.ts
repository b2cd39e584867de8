import { MantelError, sentence } from "@mantel/plugin-sdk";
import { type CivilDay, civilDay, dayNumber, isoWeek } from "./calendar-day.ts";
import { HOUR_MS, type Rule, type Weekday } from "./recurrence.ts";
import { DAY_MS } from "./zones.ts";

const TOO_LONG = sentence("recurrences_too_long", "its recurrences take too long to work out");

/** Remaining days to check, so that one event or feed cannot use up all the time. */
export class Budget {
  readonly #parent: Budget | undefined;
  #days: number;

  /** A part of `whole` may use at most `days`, and never more than the rest of the whole. */
  constructor(days: number, whole?: Budget) {
    this.#days = days;
    this.#parent = whole;
  }

  get isUsedUp(): boolean {
    return this.#days < 0;
  }

  /** @throws MantelError `invalid` if the budget is used up */
  spend(days: number): void {
    this.#days -= days;
    if (this.#days < 0) throw new MantelError("invalid", TOO_LONG);
    this.#parent?.spend(days);
  }
}

/**
 * The last starts of rules with a count that were expanded to the end, so that they are counted
 * only once.
 */
const lastStarts = new WeakMap<Rule, number>();

/**
 * The starts of a rule from `first` up to `span.to`, as local times in ascending order. `first`
 * counts as one even if the rule does not produce it (RFC 5545, 3.3.10). Starts before `span.from`
 * may be left out.
 */
export function* expandRecurrence(rule: Rule, first: number, limits: Limits): Generator<number> {
  const last = lastStarts.get(rule);
  if (last !== undefined) yield* follow({ ...rule, until: last }, first, limits);
  else if (Number.isFinite(rule.count)) yield* followCounting(rule, first, limits);
  else yield* follow(rule, first, limits);
}

interface Limits {
  readonly span: { readonly from: number; readonly to: number };
  readonly budget: Budget;
}

/** Expands a rule from its first start, however far away the span is. */
function* followCounting(rule: Rule, first: number, { span, budget }: Limits): Generator<number> {
  let count = 1;
  let last = first;
  for (const start of follow(rule, first, { span: { from: first, to: span.to }, budget })) {
    if (start > first && ++count > rule.count) {
      lastStarts.set(rule, last);
      return;
    }
    last = start;
    yield start;
  }
}

/** Expands a rule without its count. */
function* follow(rule: Rule, first: number, { span, budget }: Limits): Generator<number> {
  const last = Math.min(rule.until, span.to);
  if (last < Math.max(first, span.from)) return;
  const firstDay = civilDay(Math.floor(first / DAY_MS));
  const complete = withDefaults(rule, firstDay);
  for (let n = firstPeriod(rule, first, span.from); ; n++) {
    const period = periodOf(rule, { first, firstDay }, n);
    if (period.firstDay * DAY_MS > last) return;
    budget.spend((period.endDay - period.firstDay) * rule.times.length);
    for (const start of startsIn(complete, neededOf(period, rule, { from: span.from, to: last }))) {
      if (start > last) return;
      if (start >= first) yield start;
    }
  }
}

/** The days covered by one iteration of a rule; an hourly iteration is one hour of one day. */
interface Period {
  readonly firstDay: number;
  readonly endDay: number;
  readonly hour?: number;
}

/** Parts missing from a rule are taken from the start. */
function withDefaults(rule: Rule, first: CivilDay): Rule {
  const weekday: Weekday[] = [{ weekday: first.weekday, nth: 0 }];
  if (namesDays(rule)) return rule;
  switch (rule.freq) {
    case "YEARLY":
      if (rule.weekNo) return { ...rule, day: weekday };
      return { ...rule, monthDay: [first.monthDay], month: rule.month ?? [first.month] };
    case "MONTHLY":
      return { ...rule, monthDay: [first.monthDay] };
    case "WEEKLY":
      return { ...rule, day: weekday };
    case "DAILY":
    case "HOURLY":
      return rule;
  }
}

function namesDays({ day, monthDay, yearDay }: Rule): boolean {
  return [day, monthDay, yearDay].some((list) => list !== undefined);
}

/** The first iteration that may overlap the span. */
function firstPeriod(rule: Rule, first: number, from: number): number {
  if (from <= first) return 0;
  const shortest = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7, DAILY: 1, HOURLY: 1 / 24 }[rule.freq];
  return Math.max(0, Math.floor((from - first) / (shortest * DAY_MS * rule.interval)) - 1);
}

function periodOf(
  { freq, interval, weekStart }: Rule,
  { first, firstDay: { number: day, year, month, weekday } }: { first: number; firstDay: CivilDay },
  n: number,
): Period {
  const step = n * interval;
  switch (freq) {
    case "YEARLY":
      return { firstDay: dayNumber(year + step, 1), endDay: dayNumber(year + step + 1, 1) };
    case "MONTHLY":
      return { firstDay: dayNumber(year, month + step), endDay: dayNumber(year, month + step + 1) };
    case "WEEKLY": {
      const firstDay = day - ((weekday - weekStart + 7) % 7) + 7 * step;
      return { firstDay, endDay: firstDay + 7 };
    }
    case "DAILY":
      return { firstDay: day + step, endDay: day + step + 1 };
    case "HOURLY": {
      const hours = Math.floor(first / HOUR_MS) + step;
      const firstDay = Math.floor(hours / 24);
      return { firstDay, endDay: firstDay + 1, hour: hours - firstDay * 24 };
    }
  }
}

/**
 * The days of an iteration to check: those within bounds, or all of them if the rule has BYSETPOS.
 */
function neededOf(period: Period, { setPos }: Rule, { from, to }: Limits["span"]): Period {
  if (setPos) return period;
  return {
    ...period,
    firstDay: Math.max(period.firstDay, Math.floor(from / DAY_MS)),
    endDay: Math.min(period.endDay, Math.floor(to / DAY_MS) + 1),
  };
}

function startsIn(rule: Rule, { firstDay, endDay, hour }: Period): number[] {
  if (hour !== undefined && rule.hour && !rule.hour.includes(hour)) return [];
  const starts: number[] = [];
  for (let day = firstDay; day < endDay; day++) {
    if (!matches(rule, civilDay(day))) continue;
    for (const time of rule.times) starts.push(day * DAY_MS + (hour ?? 0) * HOUR_MS + time);
  }
  return rule.setPos ? atPositions(starts, rule.setPos) : starts;
}

function atPositions(starts: readonly number[], positions: readonly number[]): number[] {
  const chosen = positions.map((position) => starts.at(position > 0 ? position - 1 : position));
  return [...new Set(chosen)].filter((start) => start !== undefined).toSorted((a, b) => a - b);
}

function matches(rule: Rule, at: CivilDay): boolean {
  return (
    (!rule.month || rule.month.includes(at.month)) &&
    counted(rule.monthDay, at.monthDay, at.monthLength) &&
    counted(rule.yearDay, at.yearDay, at.yearLength) &&
    (!rule.day || rule.day.some((weekday) => isWeekday(rule, weekday, at))) &&
    inWeek(rule, at)
  );
}

/** True if a list contains a position, counted from the start or, if negative, from the end. */
function counted(list: readonly number[] | undefined, position: number, length: number): boolean {
  return !list || list.includes(position) || list.includes(position - length - 1);
}

function inWeek({ weekNo, weekStart }: Rule, at: CivilDay): boolean {
  if (!weekNo) return true;
  const { week, weeks } = isoWeek(at, weekStart);
  return counted(weekNo, week, weeks);
}

function isWeekday(rule: Rule, { weekday, nth }: Weekday, at: CivilDay): boolean {
  if (weekday !== at.weekday) return false;
  const ofMonth = rule.freq === "MONTHLY" || (rule.freq === "YEARLY" && rule.month);
  const ofYear = rule.freq === "YEARLY" && !rule.weekNo;
  if (nth === 0 || !(ofMonth || ofYear)) return true;
  const [position, length] = ofMonth ? [at.monthDay, at.monthLength] : [at.yearDay, at.yearLength];
  const fromStart = Math.ceil(position / 7);
  const fromEnd = -Math.ceil((length - position + 1) / 7);
  return nth === fromStart || nth === fromEnd;
}
