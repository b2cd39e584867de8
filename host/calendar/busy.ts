import { startOfDay } from "@mantel/plugin-sdk/time";
import type { CalendarAnswer } from "./answer.ts";
import type { TimedEvent } from "./select.ts";

/** A span in which somebody is busy, as RFC 3339 instants, with the calendars that say so. */
export interface BusySpan {
  readonly start: string;
  /** Exclusive. */
  readonly end: string;
  readonly calendars: readonly string[];
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly calendars: ReadonlySet<string>;
}

/**
 * The busy times of an answer within its window, in order. Spans that overlap or meet are one. Whole days last from
 * midnight to midnight in the zone of the window. Events that are free, declined or cancelled do not count.
 */
export function busySpans({
  window,
  events,
}: Pick<CalendarAnswer, "window" | "events">): BusySpan[] {
  const limits = { start: Date.parse(window.start), end: Date.parse(window.end) };
  const spans = events
    .filter(({ event }) => event.busy && event.status !== "cancelled")
    .map((each) => spanOf(each, window.timeZone))
    .map((span) => ({
      ...span,
      start: Math.max(span.start, limits.start),
      end: Math.min(span.end, limits.end),
    }))
    .filter(({ start, end }) => start < end)
    .toSorted((a, b) => a.start - b.start);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last === undefined || span.start > last.end) merged.push(span);
    else {
      const calendars = new Set([...last.calendars, ...span.calendars]);
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, span.end), calendars };
    }
  }
  return merged.map(({ start, end, calendars }) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    calendars: [...calendars].toSorted(),
  }));
}

function spanOf({ event, start, end }: TimedEvent, timeZone: string): Span {
  const instantOf = ({ at, dated }: TimedEvent["start"]) =>
    dated ? startOfDay(new Date(at).toISOString().slice(0, 10), timeZone) : at;
  return {
    start: instantOf(start),
    end: instantOf(end),
    calendars: new Set([event.calendarId]),
  };
}
