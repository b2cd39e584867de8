/** A recurrence rule as data: what is absent is not in the rule. */
export interface PlainRule {
  readonly freq: "YEARLY" | "MONTHLY" | "WEEKLY" | "DAILY";
  readonly interval: number;
  /** 0 is Sunday, as everywhere here. */
  readonly weekStart: number;
  readonly count?: number | undefined;
  readonly until?: string | undefined;
  readonly month?: readonly number[] | undefined;
  readonly weekNo?: readonly number[] | undefined;
  readonly yearDay?: readonly number[] | undefined;
  readonly monthDay?: readonly number[] | undefined;
  readonly day?: readonly (readonly [nth: number, weekday: number])[] | undefined;
  readonly hour?: readonly number[] | undefined;
  readonly setPos?: readonly number[] | undefined;
}

const DAY = 86_400_000;

/**
 * The starts of a rule up to the end of a year, as `2026-06-01T09:00`: every single day from the first of the start's
 * year is held against the sentences of RFC 5545, 3.3.10. Slow, plain, and without a line of the plugin's code.
 */
export function bruteForce(rule: PlainRule, start: string, lastYear: number): string[] {
  const sets = new Map<number, string[]>();
  const firstDay = Date.UTC(Number(start.slice(0, 4)), 0, 1) - 7 * DAY;
  for (let day = firstDay; day < Date.UTC(lastYear + 1, 0, 1); day += DAY) {
    const steps = stepsBetween(rule, start, day);
    if (steps < 0 || steps % rule.interval !== 0 || !isNamed(rule, start, day)) continue;
    const hours = (rule.hour ?? [Number(start.slice(11, 13))]).toSorted((a, b) => a - b);
    const times = hours.map((hour) => `${text(day)}T${String(hour).padStart(2, "0")}:00`);
    sets.set(steps, [...(sets.get(steps) ?? []), ...times]);
  }
  const all = [...sets.values()].flatMap((set) => pick(set, rule.setPos));
  const later = all.filter((each) => each > start && (!rule.until || each <= rule.until));
  return [start, ...later].slice(0, rule.count);
}

/** The number of years, months, weeks or days between the period of the start and that of a day. */
function stepsBetween({ freq, weekStart }: PlainRule, start: string, day: number): number {
  const [from, to] = [new Date(`${start.slice(0, 10)}Z`), new Date(day)];
  const years = to.getUTCFullYear() - from.getUTCFullYear();
  if (freq === "YEARLY") return years;
  if (freq === "MONTHLY") return years * 12 + to.getUTCMonth() - from.getUTCMonth();
  if (freq === "DAILY") return (day - from.getTime()) / DAY;
  return (weekOf(day, weekStart) - weekOf(from.getTime(), weekStart)) / (7 * DAY);
}

function weekOf(day: number, weekStart: number): number {
  let first = day;
  while (new Date(first).getUTCDay() !== weekStart) first -= DAY;
  return first;
}

function isNamed(rule: PlainRule, start: string, day: number): boolean {
  return satisfiesParts(rule, day) && fitsStart(rule, start, day);
}

function satisfiesParts(rule: PlainRule, day: number): boolean {
  return (
    (!rule.month || rule.month.includes(new Date(day).getUTCMonth() + 1)) &&
    (!rule.monthDay || fits(rule.monthDay, daysIn(day, "month"), day)) &&
    (!rule.day || rule.day.some((each) => isDayNamed(rule, each, day))) &&
    (!rule.weekNo || isWeekNamed(rule, day)) &&
    (!rule.yearDay || fits(rule.yearDay, daysIn(day, "year"), day))
  );
}

/** The values that the rule leaves out; they come from the start. */
function fitsStart({ freq, month, ...rule }: PlainRule, start: string, day: number): boolean {
  if (rule.monthDay || rule.yearDay || rule.day || freq === "DAILY") return true;
  const [date, first] = [new Date(day), new Date(`${start.slice(0, 10)}Z`)];
  if (freq === "WEEKLY" || rule.weekNo) return date.getUTCDay() === first.getUTCDay();
  const sameMonth = freq === "MONTHLY" || month || date.getUTCMonth() === first.getUTCMonth();
  return Boolean(sameMonth) && date.getUTCDate() === first.getUTCDate();
}

/** All days of the month or year of a day, in order. */
function daysIn(day: number, unit: "month" | "year"): number[] {
  const date = new Date(day);
  const year = date.getUTCFullYear();
  const from = Date.UTC(year, unit === "month" ? date.getUTCMonth() : 0, 1);
  const to =
    unit === "month" ? Date.UTC(year, date.getUTCMonth() + 1, 1) : Date.UTC(year + 1, 0, 1);
  const days: number[] = [];
  for (let each = from; each < to; each += DAY) days.push(each);
  return days;
}

/** True if one of the numbers, from the start or from the end, is the place of a day among others. */
function fits(numbers: readonly number[], days: readonly number[], day: number): boolean {
  return numbers.some((number) => days.at(number > 0 ? number - 1 : number) === day);
}

function isDayNamed(
  { freq, month, weekNo }: PlainRule,
  [nth, weekday]: readonly [number, number],
  day: number,
): boolean {
  if (new Date(day).getUTCDay() !== weekday) return false;
  if (nth === 0 || weekNo || (freq !== "MONTHLY" && freq !== "YEARLY")) return true;
  const unit = freq === "MONTHLY" || month ? "month" : "year";
  const same = daysIn(day, unit).filter((each) => new Date(each).getUTCDay() === weekday);
  return fits([nth], same, day);
}

/** Weeks of the year whose number they bear: the first is the one that January 4 is in (ISO 8601). */
function isWeekNamed({ weekNo = [], weekStart }: PlainRule, day: number): boolean {
  const week = weekOf(day, weekStart);
  const year = new Date(week + 3 * DAY).getUTCFullYear();
  const weeks: number[] = [];
  const end = weekOf(Date.UTC(year + 1, 0, 4), weekStart);
  for (let each = weekOf(Date.UTC(year, 0, 4), weekStart); each < end; each += 7 * DAY) {
    weeks.push(each);
  }
  return fits(weekNo, weeks, week);
}

function pick(set: readonly string[], positions: readonly number[] | undefined): string[] {
  if (!positions) return [...set];
  const places = positions.map((position) => (position > 0 ? position - 1 : set.length + position));
  return set.filter((_, at) => places.includes(at));
}

function text(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
