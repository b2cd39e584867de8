import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { addDays, dateIn } from "./month.ts";

/** An event on one day. */
export interface Event {
  readonly title: string;
  /** Epoch milliseconds; absent for an all-day event. */
  readonly startAt?: number;
  /** A plain colour such as `#98cbff`. */
  readonly color: string;
  readonly location: string | null;
  readonly event: CalendarWindow["events"][number];
}

/** An event with the dates on which it is shown. */
export interface Span extends Event {
  readonly calendarId: string;
  readonly first: string;
  readonly last: string;
  /** Epoch milliseconds; absent for an all-day event. */
  readonly endAt?: number;
}

interface Choice {
  readonly timeZone: string;
  /** Ids; empty means all. */
  readonly calendars: readonly string[];
}

const PLAIN_COLOR = "#98cbff";

/** The events of the chosen calendars that are not cancelled. */
export function spansOf(
  { events, sources }: Pick<CalendarWindow, "events" | "sources">,
  { timeZone, calendars }: Choice,
): readonly Span[] {
  const colors = new Map(sources.map(({ id, color }) => [id, color]));
  return events
    .filter(({ status }) => status !== "cancelled")
    .filter(({ calendarId }) => calendars.length === 0 || calendars.includes(calendarId))
    .map((event): Span => ({
      ...boundsOf(event, timeZone),
      calendarId: event.calendarId,
      title: event.title,
      location: event.location,
      event,
      color: plainColor(event.color ?? colors.get(event.calendarId)),
    }));
}

/**
 * The events of each date, all-day events first. An event over several days is listed on each of
 * them; one that began on an earlier day counts as an all-day event.
 */
export function eventsByDate(
  spans: readonly Span[],
  dates: readonly string[],
): ReadonlyMap<string, readonly Event[]> {
  return new Map(dates.map((date) => [date, onDate(spans, date)]));
}

function onDate(spans: readonly Span[], date: string): Event[] {
  const events: Event[] = spans
    .filter(({ first, last }) => first <= date && date <= last)
    .map(({ first, startAt, title, color, location, event }) => {
      const shown = { title, color, location, event };
      return startAt === undefined || first < date ? shown : { ...shown, startAt };
    });
  return events.toSorted((a, b) => (a.startAt ?? 0) - (b.startAt ?? 0));
}

/** The first and last date of an event, and its instants; ends are exclusive. */
function boundsOf(
  { start, end }: CalendarWindow["events"][number],
  timeZone: string,
): { first: string; last: string; startAt?: number; endAt?: number } {
  const startAt = "date" in start ? undefined : Date.parse(start.dateTime);
  const first = "date" in start ? start.date : dateIn(Date.parse(start.dateTime), timeZone);
  const last =
    "date" in end ? addDays(end.date, -1) : dateIn(Date.parse(end.dateTime) - 1, timeZone);
  const days = { first, last: last < first ? first : last };
  if (startAt === undefined) return days;
  return { ...days, startAt, endAt: "date" in end ? startAt : Date.parse(end.dateTime) };
}

/** Only plain colours from feeds are used in styles, because feeds are untrusted. */
function plainColor(text: string | undefined): string {
  return /^#[0-9a-f]{6}$/i.test(text ?? "") ? `${text}` : PLAIN_COLOR;
}
