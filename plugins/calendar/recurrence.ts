import { MantelError } from "@mantel/plugin-sdk";
import ICAL from "ical.js";
import { type Moment, parseMoment } from "./moment.ts";
import { DAY_MS, toInstant, toWall } from "./zones.ts";

/** How often something repeats (RFC 5545 RECUR), in the clock and calendar of its start. */
export interface Rule {
  readonly freq: Frequency;
  readonly interval: number;
  readonly count: number;
  /** The last start that is allowed, as a wall-clock time; infinite without an end. */
  readonly until: number;
  /** 0 is Sunday. */
  readonly weekStart: number;
  readonly month: readonly number[] | undefined;
  readonly weekNo: readonly number[] | undefined;
  readonly yearDay: readonly number[] | undefined;
  readonly monthDay: readonly number[] | undefined;
  readonly day: readonly Weekday[] | undefined;
  readonly hour: readonly number[] | undefined;
  readonly setPos: readonly number[] | undefined;
  /** Times of day in milliseconds, ascending; of one hour when the rule is hourly. */
  readonly times: readonly number[];
}

export type Frequency = "YEARLY" | "MONTHLY" | "WEEKLY" | "DAILY" | "HOURLY";

/** A weekday, and which one of the month or year: the first is 1, the last is -1, 0 is each. */
export interface Weekday {
  readonly weekday: number;
  readonly nth: number;
}

export const HOUR_MS = 3_600_000;
const FREQUENCIES: readonly string[] = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"];
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
/** Times of one day that a rule may name; more than this only an attack or a mistake has. */
const MAX_TIMES_PER_DAY = 100;

/**
 * Reads the text of an RRULE that belongs to `start`.
 *
 * @throws MantelError `invalid` for a broken rule, and for one that repeats by the second or minute
 */
export function parseRule(text: string, start: Moment): Rule {
  const recur = parseText(text);
  const freq = recur.freq as Frequency;
  if (!FREQUENCIES.includes(freq)) {
    throw new MantelError("invalid", `FREQ=${String(freq)} is refused: HOURLY is the fastest`);
  }
  const parts = recur.parts as Record<string, (number | string)[] | undefined>;
  const numbers = (name: string) => parts[name]?.map(Number);
  return {
    freq,
    interval: Math.max(1, recur.interval),
    count: recur.count ?? Infinity,
    until: recur.until ? lastStart(recur.until.toString(), start) : Infinity,
    weekStart: (recur.wkst ?? 2) - 1,
    month: numbers("BYMONTH"),
    weekNo: numbers("BYWEEKNO"),
    yearDay: numbers("BYYEARDAY"),
    monthDay: numbers("BYMONTHDAY"),
    day: parts["BYDAY"]?.map((each) => parseWeekday(String(each))),
    hour: start.allDay ? undefined : numbers("BYHOUR"),
    setPos: numbers("BYSETPOS"),
    times: timesOf(freq, numbers, start),
  };
}

function parseText(text: string): ICAL.Recur {
  try {
    return ICAL.Recur.fromString(text);
  } catch (error) {
    throw new MantelError("invalid", `RRULE:${text.slice(0, 80)} is broken`, { cause: error });
  }
}

function parseWeekday(text: string): Weekday {
  return { weekday: DAYS.indexOf(text.slice(-2)), nth: Number(text.slice(0, -2)) };
}

/** An UNTIL that is a date covers that whole day; one in UTC is moved to the clock of the start. */
function lastStart(text: string, start: Moment): number {
  const until = parseMoment(text, start.zone);
  const day = Math.floor(until.wall / DAY_MS) * DAY_MS;
  if (start.allDay || until.allDay) return day + DAY_MS - 1;
  return toWall(start.zone, toInstant(until.zone, until.wall));
}

function timesOf(
  freq: Frequency,
  numbers: (name: string) => number[] | undefined,
  start: Moment,
): number[] {
  if (start.allDay) return [0];
  const at = new Date(start.wall);
  const hours = freq === "HOURLY" ? [0] : (numbers("BYHOUR") ?? [at.getUTCHours()]);
  const minutes = numbers("BYMINUTE") ?? [at.getUTCMinutes()];
  const seconds = numbers("BYSECOND") ?? [at.getUTCSeconds()];
  const perDay = hours.length * minutes.length * seconds.length * (freq === "HOURLY" ? 24 : 1);
  if (perDay > MAX_TIMES_PER_DAY) {
    throw new MantelError("invalid", `the rule names ${perDay} times a day: at most 100 are read`);
  }
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) =>
      seconds.map((second) => hour * HOUR_MS + minute * 60_000 + second * 1000),
    ),
  );
  return [...new Set(times)].toSorted((a, b) => a - b);
}
