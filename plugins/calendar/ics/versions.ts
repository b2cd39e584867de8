import type { ParsedEvent } from "./event.ts";
import { instantOf } from "./moment.ts";
import type { Series } from "./series.ts";

/**
 * Puts the events of one UID together: of several copies the newest counts (by SEQUENCE, then the
 * later in the feed). Events that share a UID by mistake, and start at different times, all stay.
 */
export function seriesOf(events: readonly ParsedEvent[]): Series[] {
  const all = events.filter(({ replaces }) => !replaces);
  const newest = Math.max(...all.map(({ sequence }) => sequence));
  const masters = distinct(
    all.filter(({ sequence }) => sequence === newest),
    ({ start }) => instantOf(start),
  );
  const [first, ...others] = masters;
  const overrides = distinct(
    events.filter(({ replaces }) => replaces).map((each) => onClockOf(first, each)),
    ({ replaces }) => (replaces ? instantOf(replaces.start) : 0),
  );
  return [{ master: first, overrides }, ...others.map((master) => ({ master, overrides: [] }))];
}

/** A change may take place on another clock; where it names no zone, its RECURRENCE-ID is on that of the series. */
function onClockOf(master: ParsedEvent | undefined, change: ParsedEvent): ParsedEvent {
  const { replaces } = change;
  if (!master || !replaces?.floating) return change;
  const start = { ...replaces.start, zone: master.start.zone };
  return { ...change, replaces: { ...replaces, start } };
}

function distinct(
  events: readonly ParsedEvent[],
  key: (event: ParsedEvent) => number,
): ParsedEvent[] {
  const newest = new Map<number, ParsedEvent>();
  for (const event of events) {
    const before = newest.get(key(event));
    if (!before || event.sequence >= before.sequence) newest.set(key(event), event);
  }
  return [...newest.values()];
}
