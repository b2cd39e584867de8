import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { startOfDay, wallClock } from "@mantel/plugin-sdk/time";

/** A half-open span of instants, and the zone in which days begin and end. */
export interface LocalSpan {
  readonly start: number;
  readonly end: number;
  readonly timeZone: string;
}

/**
 * An event with its bounds as numbers, and with its JSON once that was requested, so that
 * a request compares thousands of them quickly.
 */
export class TimedEvent {
  readonly event: CalendarEvent;
  readonly start: Bound;
  readonly end: Bound;
  #json: Buffer | undefined;

  constructor(event: CalendarEvent) {
    this.event = event;
    this.start = readBound(event.start);
    this.end = readBound(event.end);
  }

  get json(): Buffer {
    this.#json ??= Buffer.from(JSON.stringify(this.event));
    return this.#json;
  }
}

/** An instant, or midnight of a date as the UTC instant with the same reading, in epoch milliseconds. */
interface Bound {
  readonly at: number;
  readonly dated: boolean;
}

/** Events with their bounds. Reuses those in `before`, with their JSON. */
export function withBounds(
  events: readonly CalendarEvent[],
  before: readonly TimedEvent[] = [],
): TimedEvent[] {
  const known = new Map(before.map((each) => [each.event, each]));
  return events.map((event) => known.get(event) ?? new TimedEvent(event));
}

function readBound(bound: CalendarBound): Bound {
  return "date" in bound
    ? { at: Date.parse(bound.date), dated: true }
    : { at: Date.parse(bound.dateTime), dated: false };
}

/**
 * The events that overlap a span. Dates are days in the span's zone. An event without length is in the span if its
 * start is.
 */
export function overlapping(events: readonly TimedEvent[], span: LocalSpan): TimedEvent[] {
  const start = edgeAt(span.start, span.timeZone);
  const end = edgeAt(span.end, span.timeZone);
  return events.filter(
    (each) =>
      compare(each.start, end) < 0 &&
      (compare(each.end, start) > 0 || (isMoment(each) && compare(each.start, start) >= 0)),
  );
}

/** An instant, and the local time in the zone at that instant. */
interface Edge {
  readonly instant: number;
  readonly wall: number;
}

function edgeAt(instant: number, timeZone: string): Edge {
  return { instant, wall: wallClock(instant, timeZone) };
}

function compare({ at, dated }: Bound, { instant, wall }: Edge): number {
  return at - (dated ? wall : instant);
}

function isMoment({ start, end }: TimedEvent): boolean {
  return start.at === end.at && !start.dated && !end.dated;
}

/** By start, with dates before times, then by end; equal ones by id, so that the order is stable. */
export function sortByStart(events: readonly TimedEvent[], timeZone: string): TimedEvent[] {
  const midnights = new Map<number, number>();
  const instantOf = ({ at, dated }: Bound): number => {
    if (!dated) return at;
    const midnight =
      midnights.get(at) ?? startOfDay(new Date(at).toISOString().slice(0, 10), timeZone);
    midnights.set(at, midnight);
    return midnight;
  };
  return events
    .map((each) => ({ each, start: instantOf(each.start), end: instantOf(each.end) }))
    .toSorted(
      (a, b) =>
        a.start - b.start ||
        Number(b.each.event.allDay) - Number(a.each.event.allDay) ||
        a.end - b.end ||
        (a.each.event.id < b.each.event.id ? -1 : 1),
    )
    .map(({ each }) => each);
}
