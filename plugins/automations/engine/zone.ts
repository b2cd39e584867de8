import { instantOf as instantOfWall, wallClock } from "@mantel/plugin-sdk/time";
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

/** The wall time at an instant. */
export function wallTimeAt(instant: number, timeZone: string): WallTime {
  const wall = wallClock(instant, timeZone);
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
  return { ...dayAt(midnight), seconds: (wall - midnight) / 1_000 };
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
  return dayAt(utc(day) + days * DAY_MS);
}

/**
 * The first instant at which clocks show a time on a day. A time that a change to daylight saving time skips is at the
 * change; of one that occurs twice it is the first.
 */
export function instantOf(day: Day, seconds: number, timeZone: string): number {
  return instantOfWall(utc(day) + seconds * 1_000, timeZone);
}

function dayAt(midnight: number): Day {
  const date = new Date(midnight);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

const utc = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day);
