import { setTimeout as delay } from "node:timers/promises";
import type { CalendarSource, CalendarWindow } from "@mantel/plugin-sdk";
import type { Span } from "./ics/series.ts";
import { DAY_MS, toInstant, toWall, type Zone } from "./ics/zones.ts";
import type { Source } from "./source.ts";

/** The prepared window around today: a month back and a year ahead. */
const DAYS_BACK = 31;
const DAYS_AHEAD = 366;
/** Changes within this time are published together. */
const SETTLE_MS = 50;
/** Interval for detecting a new day; a timer for midnight would miss a clock change. */
const DAY_CHECK_MS = 60_000;

/** Maximum wait of the other calendars for a slow one. */
const PATIENCE_MS = 1_000;
const LATE = "its events take too long to work out";

/**
 * Maximum events of all calendars in one window: 10 MB in the memory of the host, and as much here.
 */
const MAX_EVENTS = 20_000;

type Events = Awaited<ReturnType<Source["prepare"]>>;

export interface AgendaOptions {
  readonly zone: Zone;
  readonly now: () => number;
  readonly publish: (window: CalendarWindow) => Promise<void>;
  /** Called when publishing fails. */
  readonly onFault: (error: unknown) => void;
}

/** All calendars together, and the prepared window from which the host answers. */
export class Agenda {
  readonly #sources = new Map<string, Source>();
  readonly #options: AgendaOptions;
  /** The last complete result of each source. */
  readonly #latest = new WeakMap<Source, Events>();
  readonly #underWay = new Map<Source, { again: boolean; events: Promise<Events | undefined> }>();
  #published: Span | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #working: Promise<void> = Promise.resolve();

  constructor(options: AgendaOptions) {
    this.#options = options;
  }

  add(source: Source): void {
    this.#sources.set(source.id, source);
  }

  remove(id: string): void {
    this.#sources.get(id)?.close();
    this.#sources.delete(id);
    this.changed();
  }

  /** Publishes after a short delay; further changes until then are included. */
  readonly changed = (): void => {
    if (this.#ended) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#working = this.#working.then(() => this.publish()).catch(this.#options.onFault);
    }, SETTLE_MS);
  };

  /**
   * Publishes again whenever a new day begins. The returned function stops this and waits for
   * pending work.
   */
  watchDays(): () => Promise<void> {
    const timer = setInterval(() => {
      if (this.#published?.from !== this.#window().from) this.changed();
    }, DAY_CHECK_MS);
    return async () => {
      this.#ended = true;
      for (const source of this.#sources.values()) source.close();
      clearInterval(timer);
      clearTimeout(this.#timer);
      await this.#working;
    };
  }

  async publish(): Promise<void> {
    const span = this.#window();
    const sources = [...this.#sources.values()];
    const found = await inTime(sources, (source) => this.#prepare(source, span));
    const parts = sources.map((source, at) => {
      const events = found[at];
      if (!events) return late(source, this.#latest.get(source));
      this.#latest.set(source, events);
      return { events, view: source.view() };
    });
    this.#published = span;
    await this.#options.publish(windowOf(span, parts));
  }

  /** All occurrences in a span, whether or not they are published. */
  async eventsIn(span: Span): Promise<CalendarWindow> {
    const sources = [...this.#sources.values()];
    const found = await inTime(sources, (source) => this.#attempt(source.eventsIn(span)));
    const parts = sources.map((source, at) => {
      const events = found[at];
      return events ? { events, view: source.view() } : late(source, undefined);
    });
    return windowOf(span, parts);
  }

  /**
   * Computes the published events of a source. Running work is not started twice; when it finishes,
   * its result is published with other changes.
   */
  #prepare(source: Source, span: Span): Promise<Events | undefined> {
    const before = this.#underWay.get(source);
    if (before) {
      before.again = true;
      return before.events;
    }
    const startedAt = performance.now();
    const work = { again: false, events: this.#attempt(source.prepare(span)) };
    this.#underWay.set(source, work);
    void work.events.then(() => {
      this.#underWay.delete(source);
      if (work.again || performance.now() - startedAt > PATIENCE_MS) this.changed();
    });
    return work.events;
  }

  /** Logs a fault in one source without affecting the others. */
  #attempt(events: Promise<Events>): Promise<Events | undefined> {
    return events.catch((error: unknown) => {
      this.#options.onFault(error);
      return undefined;
    });
  }

  #window(): Span {
    const { zone, now } = this.#options;
    const today = Math.floor(toWall(zone, now()) / DAY_MS) * DAY_MS;
    return {
      from: toInstant(zone, today - DAYS_BACK * DAY_MS),
      to: toInstant(zone, today + (DAYS_AHEAD + 1) * DAY_MS),
    };
  }
}

/**
 * The result of each source, or `undefined` if it takes too long: one calendar must not delay the
 * others.
 */
async function inTime(
  sources: readonly Source[],
  eventsOf: (source: Source) => Promise<Events | undefined>,
): Promise<(Events | undefined)[]> {
  const patience = new AbortController();
  const tooLate = delay(PATIENCE_MS, undefined, patience).catch(() => undefined);
  const found = await Promise.all(
    sources.map((source) => Promise.race([eventsOf(source), tooLate])),
  );
  patience.abort();
  return found;
}

interface Part {
  readonly events: Events;
  readonly view: CalendarSource;
}

/** A source that did not answer in time, with its previous events. */
function late(source: Source, before: Events | undefined): Part {
  const status = before ? "stale" : "error";
  return { events: before ?? [], view: { ...source.view(), status, error: LATE } };
}

function windowOf({ from, to }: Span, all: readonly Part[]): CalendarWindow {
  const parts = fitting(all);
  return {
    start: new Date(from).toISOString(),
    end: new Date(to).toISOString(),
    events: parts.flatMap(({ events }) => events),
    sources: parts.map(({ view }) => view),
  };
}

/**
 * The parts that fit into one window. Smaller calendars come first, because a malicious one is
 * large.
 */
function fitting(parts: readonly Part[]): Part[] {
  let room = MAX_EVENTS;
  const left = new Set<Part>();
  for (const part of parts.toSorted((a, b) => a.events.length - b.events.length)) {
    if (part.events.length > room) left.add(part);
    else room -= part.events.length;
  }
  return parts.map((part) => (left.has(part) ? withoutRoom(part) : part));
}

function withoutRoom({ events, view }: Part): Part {
  const error = `its ${events.length} events do not fit: all calendars show ${MAX_EVENTS} at most`;
  return { events: [], view: { ...view, status: "error", error } };
}
