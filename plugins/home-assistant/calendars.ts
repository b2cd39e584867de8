import {
  type CalendarEvent,
  type CalendarSource,
  type CalendarWindow,
  DelayedCall,
  MantelError,
  Semaphore,
} from "@mantel/plugin-sdk";
import { colorOf, eventsIn } from "./convert-events.ts";

/** Several entities change at once, such as at midnight. */
const SOON_MS = 2_000;
/** An entity tells only of the next event, so that later ones are read at times. */
const REFRESH_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
const DAYS_BACK = 31;
const DAYS_AHEAD = 366;
const MOST_CALENDARS = 50;
const READS_AT_ONCE = 4;

/** A `calendar` entity. */
export interface CalendarEntity {
  readonly id: string;
  readonly name: string;
}

interface Span {
  readonly start: Date;
  readonly end: Date;
}

interface Parts {
  readonly timeZone: string;
  /** The calendars that are shown now. */
  readonly list: () => readonly CalendarEntity[];
  /** Reads the events of a calendar in a span, as the REST API gives them. @throws MantelError */
  readonly read: (entityId: string, span: Span) => Promise<unknown>;
  readonly publish: (window: CalendarWindow) => Promise<void>;
  readonly onFault: (error: unknown) => void;
  readonly now?: () => number;
}

/** The events of one calendar, and when and with which result they were read. */
interface Read {
  readonly events: readonly CalendarEvent[];
  readonly fetchedAt: string | null;
  readonly error?: string;
}

/** The calendars of a Home Assistant, as the calendar window that this bridge publishes. */
export class Calendars {
  readonly #parts: Parts;
  readonly #now: () => number;
  readonly #next = new DelayedCall(() => void this.#refresh());
  #reads = new Map<string, Read>();
  #isReading = false;
  #isStale = false;
  /** True once calendars were published, so that the last one's end is published as well. */
  #isPublished = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** Reads all calendars again soon. */
  changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    if (!this.#isReading) this.#next.restart(SOON_MS);
  }

  /** Marks all calendars as unreadable for this reason. */
  away(reason: string): void {
    this.#next.stop();
    this.#isStale = false;
    for (const { id } of this.#parts.list()) this.#fail(id, reason);
    void this.#publish();
  }

  close(): void {
    this.#next.stop();
  }

  /** The events in another span than the published one. */
  async window(start: string, end: string): Promise<CalendarWindow> {
    const reads = await this.#readAll({ start: new Date(start), end: new Date(end) });
    return { start, end, ...this.#contents(reads) };
  }

  async #refresh(): Promise<void> {
    this.#isReading = true;
    this.#isStale = false;
    try {
      const reads = await this.#readAll(this.#span());
      for (const [id, read] of reads) {
        if (read.error === undefined) this.#reads.set(id, read);
        else this.#fail(id, read.error);
      }
      await this.#publish();
    } finally {
      this.#isReading = false;
      this.#next.restart(this.#isStale ? SOON_MS : REFRESH_MS);
    }
  }

  async #publish(): Promise<void> {
    const calendars = this.#parts.list();
    if (calendars.length === 0 && !this.#isPublished) return;
    const { start, end } = this.#span();
    const span = { start: start.toISOString(), end: end.toISOString() };
    try {
      await this.#parts.publish({ ...span, ...this.#contents(this.#reads) });
      this.#isPublished = true;
    } catch (error) {
      this.#parts.onFault(error);
    }
  }

  #contents(reads: ReadonlyMap<string, Read>): Pick<CalendarWindow, "events" | "sources"> {
    const shown = this.#shown().map((calendar) => ({ calendar, read: reads.get(calendar.id) }));
    return {
      events: shown.flatMap(({ read }) => read?.events ?? []),
      sources: shown.map(({ calendar, read }) => sourceOf(calendar, read)),
    };
  }

  #shown(): readonly CalendarEntity[] {
    return this.#parts.list().slice(0, MOST_CALENDARS);
  }

  async #readAll(span: Span): Promise<Map<string, Read>> {
    const slots = new Semaphore(READS_AT_ONCE);
    const reads = this.#shown().map(async ({ id }) => {
      await slots.take();
      try {
        return [id, await this.#readOne(id, span)] as const;
      } finally {
        slots.giveBack();
      }
    });
    return new Map(await Promise.all(reads));
  }

  async #readOne(id: string, span: Span): Promise<Read> {
    try {
      const answer = await this.#parts.read(id, span);
      const fetchedAt = new Date(this.#now()).toISOString();
      return { events: eventsIn(answer, id, this.#parts.timeZone), fetchedAt };
    } catch (error) {
      if (!(error instanceof MantelError)) throw error;
      return { events: [], fetchedAt: null, error: error.message };
    }
  }

  /** Keeps the events that were read before. */
  #fail(id: string, error: string): void {
    const { events, fetchedAt } = this.#reads.get(id) ?? { events: [], fetchedAt: null };
    this.#reads.set(id, { events, fetchedAt, error });
  }

  /** Whole days, so that two readings of a day have the same window. */
  #span(): Span {
    const today = Math.floor(this.#now() / DAY_MS) * DAY_MS;
    return {
      start: new Date(today - DAYS_BACK * DAY_MS),
      end: new Date(today + (DAYS_AHEAD + 1) * DAY_MS),
    };
  }
}

function sourceOf(
  { id, name }: CalendarEntity,
  { events, fetchedAt, error }: Read = { events: [], fetchedAt: null, error: "not read yet" },
): CalendarSource {
  const source = { id, name, color: colorOf(id), fetchedAt };
  if (error === undefined) return { ...source, status: "ok" };
  return { ...source, status: events.length > 0 ? "stale" : "error", error };
}
