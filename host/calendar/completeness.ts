import type { CalendarSource, CalendarWindow } from "@mantel/plugin-sdk/calendar";

/** True if no event of the source is missing from its window. */
export function hasAllEvents({ status, incomplete }: CalendarSource): boolean {
  return status !== "error" && incomplete === undefined;
}

/**
 * True if events that the source has had may be missing. Older events are whole, and a source that could never be read
 * has had none.
 */
export function lacksEvents({ status, incomplete }: CalendarSource): boolean {
  return incomplete === "partial" || (incomplete === "pending" && status === "error");
}

/**
 * The new window of a provider, with the previous events of the sources that it is still reading. Such a source is
 * stale instead of empty until its events are ready.
 */
export function keepPending(
  window: CalendarWindow,
  previous: CalendarWindow | undefined,
): CalendarWindow {
  const isPending = ({ id, incomplete }: CalendarSource) =>
    incomplete === "pending" && !window.events.some(({ calendarId }) => calendarId === id);
  const pending = new Set(window.sources.filter(isPending).map(({ id }) => id));
  if (pending.size === 0 || !previous) return window;
  const kept = previous.events.filter(({ calendarId }) => pending.has(calendarId));
  if (kept.length === 0) return window;
  const withEvents = new Set(kept.map(({ calendarId }) => calendarId));
  const before = new Map(previous.sources.map((each) => [each.id, each]));
  return {
    ...window,
    events: [...window.events, ...kept],
    sources: window.sources.map((each) =>
      withEvents.has(each.id) ? asStale(each, before.get(each.id)) : each,
    ),
  };
}

function asStale(source: CalendarSource, before: CalendarSource | undefined): CalendarSource {
  return {
    ...source,
    status: "stale",
    incomplete: before?.incomplete ?? "pending",
    fetchedAt: source.fetchedAt ?? before?.fetchedAt ?? null,
    changedAt: source.changedAt ?? before?.changedAt ?? null,
  };
}

/** The source as clients see it, with every field that they rely on. */
export function withChangedAt(source: CalendarSource): CalendarSource {
  return { ...source, changedAt: source.changedAt ?? null };
}
