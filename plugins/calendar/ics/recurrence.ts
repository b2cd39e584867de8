import { MantelError, sentence } from "@mantel/plugin-sdk";
import { type Moment, parseMoment } from "./moment.ts";
import { DAY_MS, toInstant, toWall } from "./zones.ts";

/** A recurrence rule (RFC 5545 RECUR), in the local time of its start. */
export interface Rule {
  readonly freq: Frequency;
  readonly interval: number;
  readonly count: number;
  /** The last allowed start, as a local time; infinite without an end. */
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
  /** Times of day in milliseconds, ascending; within one hour if the rule is hourly. */
  readonly times: readonly number[];
}

export type Frequency = "YEARLY" | "MONTHLY" | "WEEKLY" | "DAILY" | "HOURLY";

/** A weekday and its position in the month or year: the first is 1, the last is -1, 0 is each. */
export interface Weekday {
  readonly weekday: number;
  readonly nth: number;
}

export const HOUR_MS = 3_600_000;
const FREQUENCIES: readonly string[] = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"];
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
/** Maximum times of day in a rule; more indicate an attack or a mistake. */
const MAX_TIMES_PER_DAY = 100;

/** A rule with every day of a year has 1,500 characters. */
const MAX_LENGTH = 4_000;
const HOURLY_DATE = sentence(
  "hourly_date",
  "FREQ=HOURLY is refused for a date, which has no hours",
);

/** Parts that are lists of numbers: minimum, maximum, and true if they can count from the end. */
const LISTS = {
  BYMONTH: { from: 1, to: 12, signed: false },
  BYWEEKNO: { from: 1, to: 53, signed: true },
  BYYEARDAY: { from: 1, to: 366, signed: true },
  BYMONTHDAY: { from: 1, to: 31, signed: true },
  BYHOUR: { from: 0, to: 23, signed: false },
  BYMINUTE: { from: 0, to: 59, signed: false },
  BYSECOND: { from: 0, to: 60, signed: false },
  BYSETPOS: { from: 1, to: 366, signed: true },
} as const;
type ListName = keyof typeof LISTS;
const OTHERS = ["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY"];

/**
 * Parses the RRULE of an event with this start.
 * @throws MantelError `invalid` for an invalid rule, for repetition by the second or minute, and
 * for a calendar other than the Gregorian (RFC 7529)
 */
export function parseRule(text: string, start: Moment): Rule {
  const parts = new Parts(text);
  const freq = parts.text("FREQ") ?? "";
  if (!isFrequency(freq)) {
    const values = { freq: freq.slice(0, 40) };
    throw new MantelError(
      "invalid",
      sentence("freq_refused", "FREQ={freq} is refused: HOURLY is the fastest", values),
    );
  }
  if (freq === "HOURLY" && start.allDay) {
    throw new MantelError("invalid", HOURLY_DATE);
  }
  return {
    freq,
    interval: parts.whole("INTERVAL") ?? 1,
    count: parts.whole("COUNT") ?? Infinity,
    until: lastStart(parts.text("UNTIL"), start),
    weekStart: parts.weekStart(),
    month: parts.numbers("BYMONTH"),
    weekNo: parts.numbers("BYWEEKNO"),
    yearDay: parts.numbers("BYYEARDAY"),
    monthDay: parts.numbers("BYMONTHDAY"),
    day: parts.days(),
    hour: start.allDay ? undefined : parts.numbers("BYHOUR"),
    setPos: parts.numbers("BYSETPOS"),
    times: timesOf(freq, parts, start),
  };
}

function isFrequency(text: string): text is Frequency {
  return FREQUENCIES.includes(text);
}

/** The parts of a rule, each checked on access. */
class Parts {
  readonly #rule: string;
  readonly #texts: ReadonlyMap<string, string>;

  constructor(rule: string) {
    this.#rule = rule;
    if (rule.length > MAX_LENGTH) throw this.#invalid(`its ${rule.length} characters`);
    const parts = rule.trim().toUpperCase().split(";");
    this.#texts = new Map(parts.filter((part) => part !== "").map((part) => this.#pair(part)));
  }

  text(name: string): string | undefined {
    return this.#texts.get(name);
  }

  /** A number above zero. */
  whole(name: "INTERVAL" | "COUNT"): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^0*[1-9]\d{0,9}$/.test(text)) throw this.#invalid(`${name}=${text}`);
    return Number(text);
  }

  numbers(name: ListName): number[] | undefined {
    const { from, to, signed } = LISTS[name];
    return this.text(name)
      ?.split(",")
      .map((each) => {
        const number = /^[+-]?\d{1,3}$/.test(each) ? Number(each) : NaN;
        const size = signed ? Math.abs(number) : number;
        if (size >= from && size <= to) return number;
        throw this.#invalid(`${name}=${each}`);
      });
  }

  days(): Weekday[] | undefined {
    return this.text("BYDAY")
      ?.split(",")
      .map((each) => {
        const [, nth = "", day = ""] = /^([+-]?[1-9]\d?)?([A-Z]{2})$/.exec(each) ?? [];
        if (!DAYS.includes(day) || Math.abs(Number(nth)) > 53) throw this.#invalid(`BYDAY=${each}`);
        return { weekday: DAYS.indexOf(day), nth: Number(nth) };
      });
  }

  weekStart(): number {
    const text = this.text("WKST") ?? "MO";
    if (!DAYS.includes(text)) throw this.#invalid(`WKST=${text}`);
    return DAYS.indexOf(text);
  }

  #pair(part: string): [name: string, value: string] {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(0, at));
    if (at < 0 || !(OTHERS.includes(name) || name in LISTS || name.startsWith("X-"))) {
      throw this.#invalid(part);
    }
    return [name, part.slice(at + 1)];
  }

  #invalid(part: string): MantelError {
    const values = { rule: this.#rule.slice(0, 80), part: part.slice(0, 40) };
    return new MantelError(
      "invalid",
      sentence("rule_refused", "RRULE:{rule} is refused because of {part}", values),
    );
  }
}

/**
 * The last start allowed by UNTIL. A date covers that whole day; a UTC time is converted to the
 * zone of the start; other times are in that zone.
 */
function lastStart(text: string | undefined, start: Moment): number {
  if (text === undefined) return Infinity;
  const extended = text.replace(/^(\d{4})(\d\d)(\d\d)/, "$1-$2-$3");
  const until = parseMoment(extended.replace(/T(\d\d)(\d\d)(\d\d)/, "T$1:$2:$3"), start.zone);
  const day = Math.floor(until.wall / DAY_MS) * DAY_MS;
  if (start.allDay || until.allDay) return day + DAY_MS - 1;
  return toWall(start.zone, toInstant(until.zone, until.wall));
}

function timesOf(freq: Frequency, parts: Parts, start: Moment): number[] {
  if (start.allDay) return [0];
  const at = new Date(start.wall);
  const hours = freq === "HOURLY" ? [0] : (parts.numbers("BYHOUR") ?? [at.getUTCHours()]);
  const minutes = parts.numbers("BYMINUTE") ?? [at.getUTCMinutes()];
  const seconds = parts.numbers("BYSECOND") ?? [at.getUTCSeconds()];
  const perDay = hours.length * minutes.length * seconds.length * (freq === "HOURLY" ? 24 : 1);
  if (perDay > MAX_TIMES_PER_DAY) {
    const values = { count: perDay, most: MAX_TIMES_PER_DAY };
    throw new MantelError(
      "invalid",
      sentence(
        "too_many_times",
        "the rule names {count} times a day: at most {most} are read",
        values,
      ),
    );
  }
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) =>
      seconds.map((second) => hour * HOUR_MS + minute * 60_000 + second * 1000),
    ),
  );
  return [...new Set(times)].toSorted((a, b) => a - b);
}
