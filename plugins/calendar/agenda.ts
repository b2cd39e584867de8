import type { CalendarWindow } from "@mantel/plugin-sdk";
import type { Span } from "./series.ts";
import type { Source } from "./source.ts";
import { DAY_MS, toInstant, toWall, type Zone } from "./zones.ts";

/** What the host has at hand, counted from today: enough for a year from now, and a month back. */
const DAYS_BACK = 31;
const DAYS_AHEAD = 366;
/** Changes that come together are published together. */
const SETTLE_MS = 50;
/** How often it is asked whether a new day has begun; a timer for midnight would miss a clock change. */
const DAY_CHECK_MS = 60_000;

export interface AgendaOptions {
  readonly zone: Zone;
  readonly now: () => number;
  readonly publish: (window: CalendarWindow) => Promise<void>;
  /** Told when publishing fails. */
  readonly onFault: (error: unknown) => void;
}

/** All calendars together, and the prepared window that the host answers from. */
export class Agenda {
  readonly #sources = new Map<string, Source>();
  readonly #options: AgendaOptions;
  #published: Span | undefined;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(options: AgendaOptions) {
    this.#options = options;
  }

  add(source: Source): void {
    this.#sources.set(source.id, source);
  }

  remove(id: string): void {
    this.#sources.delete(id);
    this.changed();
  }

  /** Publishes soon; more changes until then are published with it. */
  readonly changed = (): void => {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#working = this.#working.then(() => this.publish()).catch(this.#options.onFault);
    }, SETTLE_MS);
  };

  /** Publishes again whenever a new day begins. The function it returns ends all that waits. */
  watchDays(): () => Promise<void> {
    const timer = setInterval(() => {
      if (this.#published?.from !== this.#window().from) this.changed();
    }, DAY_CHECK_MS);
    return async () => {
      clearInterval(timer);
      clearTimeout(this.#timer);
      await this.#working;
    };
  }

  async publish(): Promise<void> {
    const span = this.#window();
    const window = await this.#collect(span, (source) => source.prepare(span));
    this.#published = span;
    await this.#options.publish(window);
  }

  /** Every occurrence in a span, whether or not it is published. */
  async eventsIn(span: Span): Promise<CalendarWindow> {
    return this.#collect(span, (source) => source.eventsIn(span));
  }

  async #collect(
    { from, to }: Span,
    eventsOf: (source: Source) => ReturnType<Source["eventsIn"]>,
  ): Promise<CalendarWindow> {
    const events: CalendarWindow["events"] = [];
    const sources = [...this.#sources.values()];
    for (const source of sources) events.push(...(await eventsOf(source)));
    return {
      start: new Date(from).toISOString(),
      end: new Date(to).toISOString(),
      events,
      sources: sources.map((source) => source.view()),
    };
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
