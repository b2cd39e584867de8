import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk";
import { type CalendarSource, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import type { CalendarQuery } from "@mantel/plugin-sdk/services";
import type { Bus } from "../events/bus.ts";
import { faultsOf } from "../validate.ts";
import type { CalendarAnswer } from "./answer.ts";
import { type EventQuery, parseEventQuery } from "./query.ts";
import { sortByStart, withBounds, type TimedEvent, overlapping } from "./select.ts";

export interface CalendarParts {
  readonly bus: Bus;
  readonly config: {
    readonly current: {
      readonly calendar: { readonly defaultDays: number };
      readonly ui: { readonly timeZone: string };
    };
  };
  /** Requests a window that is not published from the module that provides calendars. */
  readonly call: (query: CalendarQuery) => Promise<CalendarWindow>;
}

const RETRY_AFTER_MS = 5_000;

/** The last published calendar window, and the answers from it. */
export class Calendar {
  readonly #parts: CalendarParts;
  #window: CalendarWindow | undefined;
  /** The events of the window. */
  #events: readonly TimedEvent[] = [];

  constructor(parts: CalendarParts) {
    this.#parts = parts;
  }

  /** Stores a validated window, and announces its changes. */
  accept(checked: unknown): void {
    const before = this.#window;
    const window = checked as CalendarWindow;
    this.#window = window;
    const sameEvents = before !== undefined && isDeepStrictEqual(before.events, window.events);
    if (!sameEvents) this.#events = withBounds(window.events, this.#events);
    const sameSources =
      before !== undefined &&
      isDeepStrictEqual(withoutTimes(before.sources), withoutTimes(window.sources));
    if (!sameEvents || !sameSources)
      this.#parts.bus.emit("calendar.updated", { sources: window.sources });
  }

  /** Removes the window, because no module provides calendars any more. */
  providerGone(): void {
    if (!this.#window) return;
    this.#window = undefined;
    this.#events = [];
    this.#parts.bus.emit("calendar.updated", { sources: [] });
  }

  /**
   * Answers from the published window; requests only what is outside it.
   *
   * @throws MantelError `invalid` with every fault of the query; `service_unavailable` while no
   * calendars have been published
   */
  async events(parameters: URLSearchParams): Promise<CalendarAnswer> {
    const { calendar, ui } = this.#parts.config.current;
    const query = parseEventQuery(parameters, {
      timeZone: ui.timeZone,
      days: calendar.defaultDays,
      now: Date.now(),
    });
    const published = this.#published();
    const chosen = chooseSources(query.calendars, published.sources);
    const { events, sources } = covers(published, query)
      ? { events: this.#events, sources: published.sources }
      : await this.#ask(query);
    const ids = new Set(chosen);
    const found = sortByStart(
      overlapping(events, query).filter(({ event }) => ids.has(event.calendarId)),
      query.timeZone,
    );
    return {
      window: {
        start: new Date(query.start).toISOString(),
        end: new Date(query.end).toISOString(),
        timeZone: query.timeZone,
      },
      events: found.slice(0, query.limit),
      sources: sources.filter(({ id }) => ids.has(id)),
      truncated: found.length > query.limit,
    };
  }

  #published(): CalendarWindow {
    if (this.#window) return this.#window;
    throw new MantelError("service_unavailable", "no calendars have been read yet", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  async #ask({ start, end }: EventQuery) {
    const answer = await this.#parts.call({
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
    });
    const [fault] = faultsOf(CalendarWindow, answer);
    if (!fault) return { events: withBounds(answer.events), sources: answer.sources };
    throw new MantelError(
      "service_unavailable",
      `the calendar module gave an invalid answer: ${fault.pointer} ${fault.detail}`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }
}

/** Omits the time of the last reading, which changes with every check and is not a change of the source. */
function withoutTimes(sources: readonly CalendarSource[]): object[] {
  return sources.map((source) => ({ ...source, fetchedAt: null }));
}

function covers(window: CalendarWindow, { start, end }: EventQuery): boolean {
  return Date.parse(window.start) <= start && end <= Date.parse(window.end);
}

/** @throws MantelError `invalid` if a requested calendar does not exist */
function chooseSources(requested: readonly string[], sources: readonly CalendarSource[]): string[] {
  const ids = sources.map(({ id }) => id);
  if (requested.length === 0) return ids;
  const errors = requested
    .filter((id) => !ids.includes(id))
    .map((id) => ({
      pointer: "/calendar",
      detail: `no calendar ${id}; the calendars are ${ids.join(", ") || "none"}`,
    }));
  const [first] = errors;
  if (first) throw new MantelError("invalid", `invalid query: ${first.detail}`, { errors });
  return [...requested];
}
