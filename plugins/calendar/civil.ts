import { DAY_MS } from "./zones.ts";

/** One day of the Gregorian calendar, with its place in its week, month and year. */
export interface CivilDay {
  /** Days since 1970-01-01. */
  readonly number: number;
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** From 1. */
  readonly monthDay: number;
  readonly monthLength: number;
  /** From 1. */
  readonly yearDay: number;
  readonly yearLength: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

export function civilDay(number: number): CivilDay {
  const date = new Date(number * DAY_MS);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth() + 1;
  const newYear = dayNumber(year, 1);
  const monthDay = date.getUTCDate();
  return {
    number,
    year,
    month,
    monthDay,
    monthLength: dayNumber(year, month + 1) - (number - monthDay + 1),
    yearDay: number - newYear + 1,
    yearLength: dayNumber(year + 1, 1) - newYear,
    weekday: date.getUTCDay(),
  };
}

/** The number of the first day of a month. Months beyond 12 are of later years. */
export function dayNumber(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, 1); // Date.UTC would read a year below 100 as 19xx
  return date.getTime() / DAY_MS;
}

/**
 * The number of the week that a day is in, and how many weeks that week's year has (ISO 8601, but
 * with weeks that start on `weekStart`): week 1 is the first with at least four days in the year.
 */
export function isoWeek(at: CivilDay, weekStart: number): { week: number; weeks: number } {
  const fourth = at.number - ((at.weekday - weekStart + 7) % 7) + 3;
  const { yearDay, yearLength } = civilDay(fourth);
  const week = Math.ceil(yearDay / 7);
  const daysLeft = yearLength - yearDay;
  return { week, weeks: week + Math.floor(daysLeft / 7) };
}
