import {
  DelayedCall,
  type CalendarSource,
  type CalendarWindow,
  inEnglish,
  type Sentence,
  sentence,
} from "@mantel/plugin-sdk";
import type { Expansion } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import { DAY_MS, toInstant, toWall, type Zone } from "./ics/zones.ts";
import { CLOCKS, type Clocks, inTime, LATE, type Patience } from "./patience.ts";
import type { Source } from "./source.ts";

/** The prepared window around today: a month back and a year ahead. */
const DAYS_BACK = 31;
const DAYS_AHEAD = 366;
/** Changes within this time are published together. */
const SETTLE_MS = 50;
/** Interval for detecting a new day; a timer for midnight would miss a clock change. */
const DAY_CHECK_MS = 60_000;

/** Maximum wait of the other calendars for a slow one. */
const PUBLISHING: Patience = { cpuMs: 1_000, wallMs: 3_000 };
/** Maximum wait of a request for another window, below the deadline of the host. */
const ANSWERING: Patience = { cpuMs: 3_000, wallMs: 25_000 };

const WORKING = sentence("working", "its events are still being worked out");
const FAULT = sentence("fault", "its events cannot be worked out: the log has the reason");

/**
 * Maximum events of all calendars in one window: 10 MB in the memory of the host, and as much here.
 */
const MAX_EVENTS = 20_000;

/** The work of a source, or `undefined` if it failed. */
type Work = Promise<Expansion | undefined>;

export interface AgendaOptions {
  readonly zone: Zone;
  readonly now: () => number;
  readonly publish: (window: CalendarWindow) => Promise<void>;
  /** Called when publishing fails. */
  readonly onFault: (error: unknown) => void;
  /** Absent means those of this process. */
  readonly clocks?: Clocks;
}

/** All calendars together, and the prepared window from which the host answers. */
export class Agenda {
  readonly #sources = new Map<string, Source>();
  readonly #options: AgendaOptions;
  /** The last complete result of each source. */
  readonly #latest = new WeakMap<Source, Expansion>();
  readonly #underWay = new Map<Source, { again: boolean; work: Work }>();
  readonly #clocks: Clocks;
  #privateBefore: ReadonlySet<string> | undefined;
  #published: Span | undefined;
  readonly #publishSoon = new DelayedCall(() => {
    this.#working = this.#working.then(() => this.publish()).catch(this.#options.onFault);
  });
  #ended = false;
  #working: Promise<void> = Promise.resolve();

  constructor(options: AgendaOptions) {
    this.#options = options;
    this.#clocks = options.clocks ?? CLOCKS;
  }

  /** All calendars. */
  get sources(): readonly Source[] {
    return [...this.#sources.values()];
  }

  /** Sets which sources were private in the window that the host has. */
  wasPrivate(ids: Iterable<string>): void {
    this.#privateBefore = new Set(ids);
  }

  find(id: string): Source | undefined {
    return this.#sources.get(id);
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
    this.#publishSoon.start(SETTLE_MS);
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
      this.#publishSoon.stop();
      await this.#working;
    };
  }

  async publish(): Promise<void> {
    const span = this.#window();
    const sources = [...this.#sources.values()];
    const works = sources.map((source) => this.#prepare(source, span));
    const found = await inTime(works, PUBLISHING, this.#clocks);
    const parts = sources.map((source, at) => {
      const expansion = found[at];
      if (expansion === LATE) void this.#prepare(source, span).then(this.changed);
      if (typeof expansion !== "object") return this.#lacking(source, expansion);
      this.#latest.set(source, expansion);
      return { events: expansion.events, view: this.#publicView(source, expansion) };
    });
    this.#published = span;
    await this.#options.publish(windowOf(span, parts));
  }

  /** Publishes the present state after what is being published. */
  publishNow(): Promise<void> {
    this.#publishSoon.stop();
    const published = this.#working.then(() => this.publish());
    this.#working = published.catch(() => undefined); // the caller gets the error
    return published;
  }

  /** All occurrences in a span, whether or not they are published. */
  async eventsIn(span: Span): Promise<CalendarWindow> {
    const sources = [...this.#sources.values()];
    const works = sources.map((source) => this.#attempt(source.eventsIn(span)));
    const found = await inTime(works, ANSWERING, this.#clocks);
    const parts = sources.map((source, at) => {
      const expansion = found[at];
      if (typeof expansion !== "object") return this.#lacking(source, expansion);
      return { events: expansion.events, view: source.view(expansion) };
    });
    return windowOf(span, parts);
  }

  /** A source whose events are late, or have a fault, with the events that were published last. */
  #lacking(source: Source, expansion: typeof LATE | undefined): Part {
    const latest = this.#latest.get(source);
    const status = latest ? "stale" : "error";
    const reason =
      expansion === LATE
        ? ({ incomplete: "pending", ...because(WORKING) } as const)
        : ({ incomplete: "partial", ...because(FAULT) } as const);
    const view = { ...source.view(latest), status, ...reason } as const;
    return { events: latest?.events ?? [], view: this.#withoutPrevious(source, view) };
  }

  #publicView(source: Source, expansion: Expansion): CalendarSource {
    return this.#withoutPrevious(source, source.view(expansion));
  }

  /** Events from before a calendar became private must not be shown while it is read. */
  #withoutPrevious(source: Source, view: CalendarSource): CalendarSource {
    const becamePrivate = source.isPrivate && !this.#privateBefore?.has(source.id);
    return becamePrivate && view.incomplete === "pending"
      ? { ...view, incomplete: "partial" }
      : view;
  }

  /**
   * Computes the published events of a source. Running work is not started twice; when it finishes,
   * its result is published with other changes.
   */
  #prepare(source: Source, span: Span): Work {
    const before = this.#underWay.get(source);
    if (before) {
      before.again = true;
      return before.work;
    }
    const entry = { again: false, work: this.#attempt(source.prepare(span)) };
    this.#underWay.set(source, entry);
    void entry.work.then(() => {
      this.#underWay.delete(source);
      if (entry.again) this.changed();
    });
    return entry.work;
  }

  /** Logs a fault in one source without affecting the others. */
  #attempt(work: Promise<Expansion>): Work {
    return work.catch((error: unknown) => {
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

interface Part {
  readonly events: Expansion["events"];
  readonly view: CalendarSource;
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
  const told = sentence(
    "no_room_for_events",
    "its {count} events do not fit: all calendars show {most} at most",
    { count: events.length, most: MAX_EVENTS },
  );
  const state = { status: "error", incomplete: "partial", ...because(told) } as const;
  return { events: [], view: { ...view, ...state } };
}

function because(told: Sentence): Pick<CalendarSource, "error" | "reasons"> {
  return { error: inEnglish(told), reasons: [told] };
}
