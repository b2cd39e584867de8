import type { CalendarSource, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { type TimedEvent, withBounds } from "./select.ts";

/** The calendars of one provider: its last published window. */
export interface Provided {
  readonly window: CalendarWindow;
  readonly events: readonly TimedEvent[];
}

/** A source with the provider that it comes from, under an id that is unique among all providers. */
export interface MergedSource {
  readonly provider: string;
  readonly source: CalendarSource;
}

/**
 * Ids of sources that several providers have, by provider: the ids of the later provider, in the order of their names,
 * begin with its name, as in `garden/family`.
 */
export type Renamed = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The sources of all providers, in the order of the names of their providers. */
export function mergeSources(windows: ReadonlyMap<string, Pick<CalendarWindow, "sources">>): {
  sources: MergedSource[];
  renamed: Renamed;
} {
  const taken = new Set<string>();
  const renamed = new Map<string, Map<string, string>>();
  const sources: MergedSource[] = [];
  const providers = [...windows].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [provider, { sources: given }] of providers) {
    const isTaken = given.filter(({ id }) => taken.has(id));
    const own = new Map(isTaken.map(({ id }) => [id, `${provider}/${id}`]));
    if (own.size > 0) renamed.set(provider, own);
    for (const source of given) {
      const id = own.get(source.id);
      sources.push({ provider, source: id === undefined ? source : { ...source, id } });
      taken.add(id ?? source.id);
    }
  }
  return { sources, renamed };
}

/** The events of a provider under the ids of its merged sources. Reuses those in `before`. */
export function eventsOf(
  window: CalendarWindow,
  names: ReadonlyMap<string, string> | undefined,
  before?: readonly TimedEvent[],
): TimedEvent[] {
  if (!names) return withBounds(window.events, before);
  const events = window.events.map((event) => {
    const calendarId = names.get(event.calendarId);
    return calendarId === undefined
      ? event
      : { ...event, calendarId, id: `${calendarId}/${event.id}` };
  });
  return withBounds(events, before);
}
