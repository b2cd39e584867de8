/** A calendar month. Dates are for example `2026-11-20`, and independent of time zones. */
export interface Month {
  /** Such as `2026-11`. */
  readonly id: string;
  readonly first: string;
  readonly weeks: readonly Week[];
  /** All dates in the shown weeks. */
  readonly dates: readonly string[];
}

export interface Week {
  /** ISO 8601. */
  readonly number: number;
  readonly dates: readonly string[];
}

const DAY_MS = 86_400_000;

/** The month of a date in whole weeks. `firstDay` is 1 for Monday to 7 for Sunday. */
export function monthOf(date: string, firstDay: number): Month {
  const id = date.slice(0, 7);
  const first = `${id}-01`;
  const start = addDays(first, -((weekdayOf(first) - firstDay + 7) % 7));
  const weeks: Week[] = [];
  for (let at = start; at.slice(0, 7) <= id; at = addDays(at, 7)) {
    const dates = Array.from({ length: 7 }, (_, index) => addDays(at, index));
    weeks.push({ number: weekNumber(dates), dates });
  }
  return { id, first, weeks, dates: weeks.flatMap(({ dates }) => dates) };
}

export function addDays(date: string, days: number): string {
  return isoDate(Date.parse(date) + days * DAY_MS);
}

/** The same day in another month, or its last day if that month is shorter. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return isoDate(Date.UTC(year, month - 1 + months, Math.min(day, last)));
}

/** The date of an instant in a time zone. */
export function dateIn(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone }).format(at);
}

/** The minute of the day of an instant in a time zone, from 0. */
export function minuteIn(at: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
  });
  const [hours = 0, minutes = 0] = clock.format(at).split(":").map(Number);
  return hours * 60 + minutes;
}

/** The dates of a week, or of its part from `date` if fewer than 7 days are shown. */
export function weekOf(date: string, firstDay: number, days = 7): readonly string[] {
  const start = days < 7 ? date : addDays(date, -((weekdayOf(date) - firstDay + 7) % 7));
  return Array.from({ length: days }, (_, index) => addDays(start, index));
}

/** Week data of a locale. Older browsers have it as a property, some not at all. */
interface WeekLocale extends Intl.Locale {
  readonly weekInfo?: { readonly firstDay: number };
  getWeekInfo?(): { readonly firstDay: number };
}

/** The first day of the week in a locale: 1 for Monday to 7 for Sunday. */
export function weekStart(locale: string): number {
  const known: WeekLocale = new Intl.Locale(locale);
  return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? usualWeekStart(known);
}

/**
 * Regions where weeks do not start on Monday (CLDR 48, `weekData`), for browsers without week data.
 */
const OTHER_STARTS: Readonly<Record<number, string>> = {
  5: "MV",
  6: "AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY",
  7:
    "AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN IS JM JP KE KH KR LA MH MM MO MT MX MZ " +
    "NI NP PA PE PH PK PR PT PY SA SG SV TH TT TW US VE VI WS YE ZA ZW",
};

/**
 * The first day of the week by the region of a locale; an absent region is guessed from the
 * language.
 */
export function usualWeekStart(locale: Intl.Locale): number {
  const { region = "" } = locale.maximize();
  const found = Object.entries(OTHER_STARTS).find(([, lands]) => lands.split(" ").includes(region));
  return Number(found?.[0] ?? 1);
}

/** The ISO 8601 number of a week of seven dates: it belongs to the year of its Thursday. */
export function weekNumber(dates: readonly string[]): number {
  const thursday = dates.find((date) => weekdayOf(date) === 4) ?? "";
  const year = Date.parse(`${thursday.slice(0, 4)}-01-01`);
  return Math.floor((Date.parse(thursday) - year) / (7 * DAY_MS)) + 1;
}

function weekdayOf(date: string): number {
  return new Date(Date.parse(date)).getUTCDay() || 7;
}

function isoDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
