import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk";
import { type CalendarSource, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import type { CalendarQuery } from "@mantel/plugin-sdk/services";
import type { Bus } from "../events/bus.ts";
import { faultsOf, invalid } from "../validate.ts";
import type { CalendarAnswer } from "./answer.ts";
import { hasAllEvents, keepPending, withChangedAt } from "./completeness.ts";
import {
  eventsOf,
  type MergedSource,
  mergeSources,
  type Provided,
  type Renamed,
} from "./merged.ts";
import { type EventQuery, parseEventQuery } from "./query.ts";
import { sortByStart, type TimedEvent, overlapping } from "./select.ts";

export interface CalendarDependencies {
  readonly bus: Bus;
  readonly config: {
    readonly current: {
      readonly calendar: { readonly defaultDays: number };
      readonly ui: { readonly timeZone: string };
    };
  };
  /** Requests a window that a provider has not published. */
  readonly call: (provider: string, query: CalendarQuery) => Promise<CalendarWindow>;
}

const RETRY_AFTER_MS = 5_000;

/** Events and sources of a span of time. */
interface Contents {
  readonly events: readonly TimedEvent[];
  readonly sources: readonly CalendarSource[];
}

/** The last calendar window of each provider, and the answers from all of them. */
export class Calendar {
  readonly #parts: CalendarDependencies;
  /** By the id of the provider. */
  readonly #provided = new Map<string, Provided>();
  #sources: readonly MergedSource[] = [];
  #renamed: Renamed = new Map();

  constructor(parts: CalendarDependencies) {
    this.#parts = parts;
  }

  /** The events and sources of all providers; `undefined` while nothing has been published. */
  get published(): Pick<CalendarWindow, "events" | "sources"> | undefined {
    if (this.#provided.size === 0) return undefined;
    const events = [...this.#provided.values()].flatMap((each) => each.events);
    return {
      events: events.map(({ event }) => event),
      sources: this.#sources.map(({ source }) => source),
    };
  }

  /** Stores a validated window of a provider, and announces its changes. */
  accept(checked: unknown, provider: string): void {
    const before = this.#provided.get(provider);
    const window = keepPending(checked as CalendarWindow, before?.window);
    const sameEvents =
      before !== undefined && isDeepStrictEqual(before.window.events, window.events);
    this.#provided.set(provider, { window, events: before?.events ?? [] });
    const sameSources = !this.#mergeSources();
    if (!sameEvents) this.#mergeEvents(provider);
    if (!sameEvents || !sameSources) this.#announce();
  }

  /** Removes the calendars of a provider, because it does not provide them any more. */
  providerGone(provider: string): void {
    if (!this.#provided.delete(provider)) return;
    this.#mergeSources();
    this.#announce();
  }

  /**
   * Answers from the published windows; requests only what is outside them.
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
    this.#requirePublished();
    const chosen = chooseSources(
      query.calendars,
      this.#sources.map(({ source }) => source),
    );
    const ids = new Set(chosen);
    const wanted = this.#sources.filter(({ source }) => ids.has(source.id));
    const providers = [...new Set(wanted.map(({ provider }) => provider))];
    const { events, sources } = await this.#contents(providers, query);
    const found = sortByStart(
      overlapping(events, query).filter(({ event }) => ids.has(event.calendarId)),
      query.timeZone,
    );
    const shown = sources.filter(({ id }) => ids.has(id));
    return {
      window: {
        start: new Date(query.start).toISOString(),
        end: new Date(query.end).toISOString(),
        timeZone: query.timeZone,
      },
      events: found.slice(0, query.limit),
      sources: shown.map(withChangedAt),
      truncated: found.length > query.limit,
      complete: shown.every(hasAllEvents),
    };
  }

  /**
   * The ids of the modules that provide calendars, in order.
   * @throws MantelError `service_unavailable` while no calendars have been published
   */
  get providers(): readonly string[] {
    this.#requirePublished();
    return [...this.#provided.keys()].toSorted();
  }

  /** The id that clients see of a provider's calendar. */
  publicIdOf(provider: string, ownId: string): string {
    return this.#renamed.get(provider)?.get(ownId) ?? ownId;
  }

  /**
   * The provider of a calendar, and the calendar's id there.
   * @throws MantelError `not_found`
   */
  placeOf(id: string): { readonly provider: string; readonly ownId: string } {
    const found = this.#sources.find(({ source }) => source.id === id);
    if (!found) throw new MantelError("not_found", `no calendar has the id ${id}`);
    const renamed = this.#renamed.get(found.provider) ?? [];
    const [ownId = id] = [...renamed].find(([, name]) => name === id) ?? [];
    return { provider: found.provider, ownId };
  }

  /**
   * The place of a calendar that a change names in a field.
   * @throws MantelError `invalid` at the pointer; `service_unavailable` while no calendars have been published
   */
  requestedPlace(
    id: string,
    pointer: string,
  ): { readonly provider: string; readonly ownId: string } {
    this.#requirePublished();
    const ids = this.#sources.map(({ source }) => source.id);
    if (ids.includes(id)) return this.placeOf(id);
    throw invalid("the change", [{ pointer, detail: unknownCalendar(id, ids) }]);
  }

  /**
   * The calendar of an event, and the event's id within it.
   * @throws MantelError `not_found`
   */
  placeOfEvent(id: string): { readonly calendarId: string; readonly event: string } {
    const ids = this.#sources.map(({ source }) => source.id);
    const [calendarId] = ids
      .filter((each) => id.startsWith(`${each}/`))
      .toSorted((a, b) => b.length - a.length);
    if (calendarId === undefined) throw new MantelError("not_found", "no event has this id");
    const { ownId } = this.placeOf(calendarId);
    const rest = id.slice(calendarId.length + 1);
    const isRenamed = ownId !== calendarId && rest.startsWith(`${ownId}/`);
    return { calendarId, event: isRenamed ? rest.slice(ownId.length + 1) : rest };
  }

  /**
   * All occurrences in a window, for plugins that call the service.
   * @throws MantelError `service_unavailable` while no calendars have been published
   */
  async window({ start, end }: CalendarQuery): Promise<CalendarWindow> {
    this.#requirePublished();
    const span = { start: Date.parse(start), end: Date.parse(end), timeZone: "UTC" };
    const { events, sources } = await this.#contents([...this.#provided.keys()], span);
    const found = sortByStart(overlapping(events, span), span.timeZone);
    const complete = sources.every(hasAllEvents);
    return { start, end, events: found.map(({ event }) => event), sources: [...sources], complete };
  }

  /** Sets the sources, and the events of providers whose sources have other ids now. True if something changed. */
  #mergeSources(): boolean {
    const windows = new Map([...this.#provided].map(([id, { window }]) => [id, window]));
    const { sources, renamed } = mergeSources(windows);
    const before = this.#sources;
    const namesBefore = this.#renamed;
    this.#sources = sources;
    this.#renamed = renamed;
    for (const provider of this.#provided.keys()) {
      const [old, now] = [namesBefore.get(provider), renamed.get(provider)];
      if (!isDeepStrictEqual(old, now)) this.#mergeEvents(provider);
    }
    return !isDeepStrictEqual(withoutTimes(before), withoutTimes(sources));
  }

  #mergeEvents(provider: string): void {
    const provided = this.#provided.get(provider);
    if (!provided) return;
    const { window, events: before } = provided;
    const events = eventsOf(window, this.#renamed.get(provider), before);
    this.#provided.set(provider, { window, events });
  }

  #announce(): void {
    const sources = this.#sources.map(({ source }) => withChangedAt(source));
    this.#parts.bus.emit("calendar.updated", { sources });
  }

  #requirePublished(): void {
    if (this.#provided.size > 0) return;
    throw new MantelError("service_unavailable", "no calendars have been read yet", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  /**
   * The contents of these providers in a span. A provider that does not answer makes its own sources stale, or in error
   * without events. @throws MantelError the error of the only provider
   */
  async #contents(
    providers: readonly string[],
    span: Pick<EventQuery, "start" | "end">,
  ): Promise<Contents> {
    const all = await Promise.all(
      providers.map(async (provider) => {
        try {
          return await this.#contentsOf(provider, span);
        } catch (error) {
          if (this.#provided.size === 1) throw error;
          return this.#contentsWithout(provider, span, error);
        }
      }),
    );
    return {
      events: all.flatMap(({ events }) => events),
      sources: all.flatMap(({ sources }) => sources),
    };
  }

  async #contentsOf(provider: string, span: Pick<EventQuery, "start" | "end">): Promise<Contents> {
    const provided = this.#provided.get(provider);
    if (provided && covers(provided.window, span)) {
      return { events: provided.events, sources: this.#sourcesOf(provider) };
    }
    const answer = await this.#ask(provider, span);
    const names = this.#renamed.get(provider);
    const sources = answer.sources.map((each) => ({ ...each, id: names?.get(each.id) ?? each.id }));
    return { events: eventsOf(answer, names), sources };
  }

  #contentsWithout(
    provider: string,
    { start, end }: Pick<EventQuery, "start" | "end">,
    error: unknown,
  ): Contents {
    const known = this.#provided.get(provider)?.events ?? [];
    const events = overlapping(known, { start, end, timeZone: "UTC" });
    const status = events.length > 0 ? ("stale" as const) : ("error" as const);
    const reason = error instanceof MantelError ? error.message : "its module has a fault";
    return {
      events,
      sources: this.#sourcesOf(provider).map((each) => ({
        ...each,
        status,
        incomplete: "pending" as const,
        error: reason,
      })),
    };
  }

  #sourcesOf(provider: string): CalendarSource[] {
    return this.#sources.filter((each) => each.provider === provider).map(({ source }) => source);
  }

  async #ask(
    provider: string,
    { start, end }: Pick<EventQuery, "start" | "end">,
  ): Promise<CalendarWindow> {
    const answer = await this.#parts.call(provider, {
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
    });
    const [fault] = faultsOf(CalendarWindow, answer);
    if (!fault) return answer;
    throw new MantelError(
      "service_unavailable",
      `${provider} gave an invalid answer: ${fault.pointer} ${fault.detail}`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }
}

/** Omits the time of the last confirmation, which changes with every check and is not a change of the source. */
function withoutTimes(sources: readonly MergedSource[]): object[] {
  return sources.map(({ source }) => ({ ...source, fetchedAt: null }));
}

function covers(
  window: CalendarWindow,
  { start, end }: Pick<EventQuery, "start" | "end">,
): boolean {
  return Date.parse(window.start) <= start && end <= Date.parse(window.end);
}

/** @throws MantelError `invalid` if a requested calendar does not exist */
function chooseSources(requested: readonly string[], sources: readonly CalendarSource[]): string[] {
  const ids = sources.map(({ id }) => id);
  if (requested.length === 0) return ids;
  const errors = requested
    .filter((id) => !ids.includes(id))
    .map((id) => ({ pointer: "/calendar", detail: unknownCalendar(id, ids) }));
  const [first] = errors;
  if (first) throw new MantelError("invalid", `invalid query: ${first.detail}`, { errors });
  return [...requested];
}

function unknownCalendar(id: string, ids: readonly string[]): string {
  return `no calendar ${id}; the calendars are ${ids.join(", ") || "none"}`;
}
