import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";

type Event = CalendarWindow["events"][number];
type Bound = Event["start"];

/** One event on one day. Instants are epoch milliseconds; an all-day event has none. */
export interface Entry {
  readonly event: Event;
  readonly startAt: number | undefined;
  readonly running: boolean;
}

/** A day and its remaining events. `date` is for example `2026-11-20`. */
export interface Day {
  readonly date: string;
  readonly name: "today" | "tomorrow" | "later";
  readonly entries: readonly Entry[];
}

interface Room {
  readonly now: number;
  readonly timeZone: string;
  /** Maximum number of events. */
  readonly most: number;
}

const DAY_MS = 86_400_000;

/**
 * The next events by day: always today, then days with events while there is room. Past and
 * cancelled events are left out; events that began earlier and are still running count as today's.
 */
export function daysOf(window: CalendarWindow, { now, timeZone, most }: Room): Day[] {
  const dates = new Intl.DateTimeFormat("en-CA", { timeZone });
  const today = dates.format(now);
  const tomorrow = new Date(Date.parse(today) + DAY_MS).toISOString().slice(0, 10);
  const days = new Map<string, Entry[]>([[today, []]]);
  for (const entry of upcoming(window.events, now, dates).slice(0, most)) {
    const start = dateOf(entry.event.start, dates);
    const date = start > today ? start : today;
    const entries = days.get(date) ?? [];
    entries.push(entry);
    days.set(date, entries);
  }
  return [...days].map(([date, entries]) => ({
    date,
    name: date === today ? "today" : date === tomorrow ? "tomorrow" : "later",
    entries,
  }));
}

function upcoming(events: readonly Event[], now: number, dates: Intl.DateTimeFormat): Entry[] {
  const today = dates.format(now);
  return events
    .filter(({ status }) => status !== "cancelled")
    .filter(({ end }) => ("date" in end ? end.date > today : Date.parse(end.dateTime) > now))
    .map((event) => {
      const startAt = "date" in event.start ? undefined : Date.parse(event.start.dateTime);
      return { event, startAt, running: startAt !== undefined && startAt <= now };
    })
    .toSorted((a, b) => sortKey(a, dates).localeCompare(sortKey(b, dates)));
}

/** By date, all-day events first, then by instant. */
function sortKey({ event, startAt = 0 }: Entry, dates: Intl.DateTimeFormat): string {
  return `${dateOf(event.start, dates)} ${String(startAt).padStart(15, "0")}`;
}

function dateOf(bound: Bound, dates: Intl.DateTimeFormat): string {
  return "date" in bound ? bound.date : dates.format(Date.parse(bound.dateTime));
}
