import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { startOfDay, wallClock } from "./zone.ts";

/** A half-open span of instants, and the zone in which days begin and end. */
export interface LocalSpan {
  readonly start: number;
  readonly end: number;
  readonly timeZone: string;
}

/**
 * The events that overlap a span. Dates are days of the span's zone; they are compared as texts, which
 * sort like what they say. An event without length is in the span when its start is.
 */
export function touching(events: readonly CalendarEvent[], span: LocalSpan): CalendarEvent[] {
  const start = { instant: span.start, wall: wallClock(span.start, span.timeZone) };
  const end = { instant: span.end, wall: wallClock(span.end, span.timeZone) };
  return events.filter(
    (event) =>
      compare(event.start, end) < 0 &&
      (compare(event.end, start) > 0 || (compare(event.start, start) >= 0 && isMoment(event))),
  );
}

function compare(
  bound: CalendarBound,
  edge: { readonly instant: number; readonly wall: string },
): number {
  if ("dateTime" in bound) return Date.parse(bound.dateTime) - edge.instant;
  const midnight = `${bound.date}T00:00:00`;
  return midnight < edge.wall ? -1 : Number(midnight > edge.wall);
}

function isMoment({ start, end }: CalendarEvent): boolean {
  return "dateTime" in start && "dateTime" in end && start.dateTime === end.dateTime;
}

/** By start, with dates before times, then by end; equal ones by id, so that the order is lasting. */
export function sortByStart(events: readonly CalendarEvent[], timeZone: string): CalendarEvent[] {
  const midnights = new Map<string, number>();
  const instantOf = (bound: CalendarBound): number => {
    if ("dateTime" in bound) return Date.parse(bound.dateTime);
    const midnight = midnights.get(bound.date) ?? startOfDay(bound.date, timeZone);
    midnights.set(bound.date, midnight);
    return midnight;
  };
  return events
    .map((event) => ({ event, start: instantOf(event.start), end: instantOf(event.end) }))
    .toSorted(
      (a, b) =>
        a.start - b.start ||
        Number(b.event.allDay) - Number(a.event.allDay) ||
        a.end - b.end ||
        (a.event.id < b.event.id ? -1 : 1),
    )
    .map(({ event }) => event);
}
