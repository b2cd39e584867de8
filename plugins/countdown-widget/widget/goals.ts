import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";

/** A day that is waited for. */
export interface Goal {
  readonly title: string;
  /** `2026-12-24`. */
  readonly date: string;
  /** Days from today; 0 for today. */
  readonly days: number;
}

const DAY_MS = 86_400_000;

/** A valid date in a text such as `2026-12-24`; `undefined` for any other text. */
export function dateOf(text: string): string | undefined {
  const date = text.trim();
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date) ? date : undefined;
}

/** The days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The coming events whose title or category has a word, the next one first, each title once. */
export function goalsIn(
  events: CalendarWindow["events"],
  word: string,
  { today, timeZone }: { readonly today: string; readonly timeZone: string },
): Goal[] {
  const wanted = word.trim().toLowerCase();
  const goals = new Map<string, Goal>();
  for (const { title, categories = [], status, start } of events) {
    const isMeant = [title, ...categories].some((text) => text.toLowerCase().includes(wanted));
    if (!isMeant || status === "cancelled" || goals.has(title)) continue;
    const date = "date" in start ? start.date : dateIn(Date.parse(start.dateTime), timeZone);
    const days = daysBetween(today, date);
    if (days >= 0) goals.set(title, { title, date, days });
  }
  return [...goals.values()].toSorted((a, b) => a.days - b.days);
}

/** The date of an instant in a zone. */
export function dateIn(at: number, timeZone: string): string {
  const options = { timeZone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
  return new Intl.DateTimeFormat("en-CA", options).format(at);
}
