import type { CalendarEvent, CalendarSource } from "@mantel/plugin-sdk";
import { paletteColor } from "./color.ts";
import { type Expansion, Feed } from "./feed.ts";
import type { Span } from "./series.ts";
import type { Zone } from "./zones.ts";

export interface SourceOptions {
  readonly id: string;
  /** The name and colour a person chose; absent means what the feed says. */
  readonly name?: string | undefined;
  readonly color?: string | undefined;
  /** The name when nobody says one. */
  readonly fallbackName: string;
  /** Where times without a zone are meant. */
  readonly floating: Zone;
}

/** One calendar: its last good content, and how its last reading went. */
export class Source {
  readonly id: string;
  readonly #options: SourceOptions;
  #feed: Feed | undefined;
  #fetchedAt: Date | undefined;
  #fault: string | undefined = "it is being read for the first time";
  #prepared: { readonly span: Span; readonly expansion: Expansion } | undefined;

  constructor(options: SourceOptions) {
    this.id = options.id;
    this.#options = options;
  }

  /** Takes new content. @throws MantelError `invalid`; the content before stays */
  async read(bytes: Uint8Array, at: Date): Promise<void> {
    this.#feed = await Feed.read(bytes, this.#options.floating);
    this.#prepared = undefined;
    this.confirm(at);
  }

  /** The content is the same as before. */
  confirm(at: Date): void {
    this.#fetchedAt = at;
    this.#fault = undefined;
  }

  /** The last reading failed, for a reason that is safe to show. */
  fail(reason: string): void {
    this.#fault = reason;
  }

  /** The events of a span that is asked for again and again; worked out once for each content. */
  async prepare(span: Span): Promise<readonly CalendarEvent[]> {
    const feed = this.#feed;
    if (!feed) return [];
    const { from, to } = this.#prepared?.span ?? {};
    if (this.#prepared && from === span.from && to === span.to)
      return this.#prepared.expansion.events;
    const expansion = await feed.eventsIn(span, this.#marking);
    if (feed === this.#feed) this.#prepared = { span, expansion };
    return expansion.events;
  }

  /** The events of another span. */
  async eventsIn(span: Span): Promise<readonly CalendarEvent[]> {
    return (await this.#feed?.eventsIn(span, this.#marking))?.events ?? [];
  }

  view(): CalendarSource {
    const { id, name, fallbackName } = this.#options;
    const error = this.#fault ?? this.#skipped;
    return {
      id,
      name: name ?? this.#feed?.name ?? fallbackName,
      color: this.#marking.color,
      status: this.#fault === undefined ? "ok" : this.#feed ? "stale" : "error",
      fetchedAt: this.#fetchedAt?.toISOString() ?? null,
      ...(error === undefined ? {} : { error }),
    };
  }

  get #marking() {
    const { id, color } = this.#options;
    return { calendarId: id, color: color ?? this.#feed?.color ?? paletteColor(id) };
  }

  get #skipped(): string | undefined {
    const { skipped = 0, reason } = this.#prepared?.expansion ?? {};
    if (skipped === 0) return undefined;
    return `${skipped} ${skipped === 1 ? "event was" : "events were"} skipped; the first because: ${reason}`;
  }
}
