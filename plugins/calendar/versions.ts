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
  const overrides = distinct(
    events.filter(({ replaces }) => replaces),
    ({ replaces }) => (replaces ? instantOf(replaces.start) : 0),
  );
  const [first, ...others] = masters;
  return [{ master: first, overrides }, ...others.map((master) => ({ master, overrides: [] }))];
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
