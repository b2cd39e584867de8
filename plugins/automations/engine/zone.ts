import { WEEKDAYS, type Weekday } from "./document.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A day of the calendar. Months count from 1. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The date and time that clocks in a zone show. */
export interface WallTime extends Day {
  /** Seconds since midnight, by the clock. */
  readonly seconds: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  return format;
}

/** The wall time at an instant. */
export function wallTimeAt(instant: number, timeZone: string): WallTime {
  const found: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(instant)) {
    found[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found;
  return { year, month, day, seconds: hour * 3_600 + minute * 60 + second };
}

/** The seconds since midnight in a text such as `07:30` or `07:30:15`. */
export function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return hours * 3_600 + minutes * 60 + seconds;
}

export function weekdayOf(day: Day): Weekday {
  const sunday = new Date(utc(day)).getUTCDay();
  return WEEKDAYS[(sunday + 6) % 7] ?? "mon";
}

/** The day that is a number of days later. */
export function plusDays(day: Day, days: number): Day {
  const date = new Date(utc(day) + days * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/**
 * The first instant at which clocks show a time on a day. A time that a change to daylight saving time skips is at the
 * change; of one that occurs twice it is the first.
 */
export function instantOf(day: Day, seconds: number, timeZone: string): number {
  const shown = utc(day) + seconds * 1_000;
  const offsets = [offsetAt(shown - DAY_MS, timeZone), offsetAt(shown + DAY_MS, timeZone)];
  const instants = offsets
    .filter((offset) => offsetAt(shown - offset, timeZone) === offset)
    .map((offset) => shown - offset);
  if (instants.length > 0) return Math.min(...instants);
  return changeBetween(shown - Math.max(...offsets), shown - Math.min(...offsets), timeZone);
}

/** The instant, in whole seconds, from which the zone has the offset that it has at `end`. */
function changeBetween(start: number, end: number, timeZone: string): number {
  const after = offsetAt(end, timeZone);
  let [low, high] = [Math.floor(start / 1_000), Math.floor(end / 1_000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * 1_000, timeZone) === after) high = middle;
    else low = middle;
  }
  return high * 1_000;
}

/** Milliseconds by which clocks in the zone are ahead of UTC. */
function offsetAt(instant: number, timeZone: string): number {
  const second = Math.floor(instant / 1_000) * 1_000;
  const wall = wallTimeAt(second, timeZone);
  return utc(wall) + wall.seconds * 1_000 - second;
}

const utc = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day);
