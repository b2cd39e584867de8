/** A day of the Gregorian calendar, with its position in the week, month and year. */
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

/** From 0000-03-01 to 1970-01-01: years are counted from March, so that a leap day is their last. */
const EPOCH = 719_468;
/** Days of 400 years, after which the calendar repeats. */
const ERA = 146_097;
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const { floor } = Math;

/**
 * Uses integers: a rule may check thousands of days, and a `Date` for each costs ten times as much.
 */
export function civilDay(number: number): CivilDay {
  const era = floor((number + EPOCH) / ERA);
  const inEra = number + EPOCH - era * ERA;
  const yearOfEra = floor(
    (inEra - floor(inEra / 1460) + floor(inEra / 36_524) - floor(inEra / 146_096)) / 365,
  );
  const fromMarch = inEra - daysOfYears(yearOfEra);
  const monthFromMarch = floor((5 * fromMarch + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const leap = isLeap(year) ? 1 : 0;
  return {
    number,
    year,
    month,
    monthDay: fromMarch - daysBefore(monthFromMarch) + 1,
    monthLength: (MONTH_LENGTHS[month - 1] ?? 0) + (month === 2 ? leap : 0),
    yearDay: month <= 2 ? fromMarch - 305 : fromMarch + 60 + leap,
    yearLength: 365 + leap,
    weekday: (((number + 4) % 7) + 7) % 7,
  };
}

/** The number of the first day of a month. Months beyond 12 are of later years. */
export function dayNumber(year: number, month: number): number {
  const monthFromMarch = (month + 9) % 12;
  const yearFromMarch = year + floor((month - 3) / 12);
  const era = floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  return era * ERA + daysOfYears(yearOfEra) + daysBefore(monthFromMarch) - EPOCH;
}

function daysOfYears(years: number): number {
  return years * 365 + floor(years / 4) - floor(years / 100);
}

/**
 * Days from March 1 to the first of a month, where March is 0: they follow a line of 30.6 days a
 * month.
 */
function daysBefore(monthFromMarch: number): number {
  return floor((153 * monthFromMarch + 2) / 5);
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * The week number of a day, and the number of weeks in that week's year (ISO 8601, but with weeks
 * that start on `weekStart`): week 1 is the first with at least four days in the year.
 */
export function isoWeek(at: CivilDay, weekStart: number): { week: number; weeks: number } {
  const fourth = at.number - ((at.weekday - weekStart + 7) % 7) + 3;
  const { yearDay, yearLength } = civilDay(fourth);
  const week = Math.ceil(yearDay / 7);
  const daysLeft = yearLength - yearDay;
  return { week, weeks: week + Math.floor(daysLeft / 7) };
}
