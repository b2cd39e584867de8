import { dayOf, type Moment } from "./moment.ts";
import { compact } from "./zone-text.ts";
import { DAY_MS, toInstant, toWall } from "./zones.ts";

const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** A rule with a part set, or without it. */
export function withPart(rule: string, name: string, value?: string): string {
  const parts = rule.split(";").filter((part) => !part.toUpperCase().startsWith(`${name}=`));
  return [...parts, ...(value === undefined ? [] : [`${name}=${value}`])].join(";");
}

function partOf(rule: string, name: string): string | undefined {
  const found = rule.split(";").find((part) => part.toUpperCase().startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/**
 * A rule for a series that begins this many milliseconds later on its clock: the end of the rule, and the one weekday
 * that it names, move along. `undefined` if other days or times that it names would give it another meaning.
 */
export function movedRule(rule: string, start: Moment, by: number): string | undefined {
  const days = dayOf({ ...start, wall: start.wall + by }) - dayOf(start);
  const names = rule.split(";").map((part) => part.slice(0, part.indexOf("=")).toUpperCase());
  const named = names.filter((name) => name.startsWith("BY"));
  const isSameTime = by === days * DAY_MS;
  if (!isSameTime && named.some((name) => /^BY(HOUR|MINUTE|SECOND)$/.test(name))) return undefined;
  const moved = withMovedUntil(rule, start, by);
  if (days === 0 || named.length === 0) return moved;
  const weekday = DAYS.indexOf(partOf(rule, "BYDAY")?.toUpperCase() ?? "");
  const isWeekly = partOf(rule, "FREQ")?.toUpperCase() === "WEEKLY";
  const isOwn = weekday === new Date(start.wall).getUTCDay();
  if (!isWeekly || named.length > 1 || !isOwn) return undefined;
  return withPart(moved, "BYDAY", DAYS[(((weekday + days) % 7) + 7) % 7]);
}

/** On the clock of the series, because a day there may have 23 or 25 hours. */
function withMovedUntil(rule: string, start: Moment, by: number): string {
  const until = partOf(rule, "UNTIL") ?? "";
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/i.exec(until);
  if (!match) return rule;
  const [year = 0, month = 1, day = 1, ...time] = match
    .slice(1, 7)
    .map((each) => Number(each ?? 0));
  const told = Date.UTC(year, month - 1, day, ...(time as [number, number, number]));
  if (match[4] === undefined) {
    const days = dayOf({ ...start, wall: start.wall + by }) - dayOf(start);
    return withPart(rule, "UNTIL", compact(told + days * DAY_MS).slice(0, 8));
  }
  const isUtc = match[7] !== "";
  const isOnClock = !isUtc || start.allDay;
  const moved = isOnClock ? told + by : toInstant(start.zone, toWall(start.zone, told) + by);
  return withPart(rule, "UNTIL", compact(moved) + (isUtc ? "Z" : ""));
}
