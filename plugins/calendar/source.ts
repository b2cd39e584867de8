import { type CalendarEvent, type CalendarSource, MantelError } from "@mantel/plugin-sdk";
import { paletteColor } from "./color.ts";
import { Content } from "./content.ts";
import type { Expansion } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import type { Zone } from "./ics/zones.ts";
import type { Settings } from "./options.ts";
import { busyWord, shownEvents } from "./shown.ts";
import { countSkipped, type SkippedFile, describeSkipped } from "./skipped-files.ts";

export interface SourceOptions {
  readonly id: string;
  /** User settings; absent ones use the values of the feed. */
  readonly settings?: Settings | undefined;
  /** The name if neither the settings nor the feed has one. */
  readonly fallbackName: string;
  /** The colour if neither the settings nor the feed has one. */
  readonly fallbackColor?: string | undefined;
  /** The zone for times without a zone. */
  readonly floating: Zone;
  /** BCP 47, for words in place of titles that are hidden. */
  readonly locale?: string;
}

/** Content of all calendars together: with more, the largest would take the memory of all. */
const MAX_HELD_BYTES = 30_000_000;
const heldBytes = new Map<Source, number>();

/** One calendar: its last good content, and how its last reading went. */
export class Source {
  readonly id: string;
  readonly #options: SourceOptions;
  readonly #settings: Settings;
  #content: Content | undefined;
  #leftOut: readonly SkippedFile[] = [];
  #fetchedAt: Date | undefined;
  #fault: string | undefined = "it is being read for the first time";
  #prepared: { readonly span: Span; readonly expansion: Expansion } | undefined;

  constructor(options: SourceOptions) {
    this.id = options.id;
    this.#options = options;
    this.#settings = options.settings ?? {};
  }

  /**
   * Takes new content.
   *
   * @param texts each is a calendar, or contacts, of which it takes the birthdays
   * @param leftOut files that belong to it, and are not in the content
   * @throws MantelError `invalid`; the content before stays
   */
  async read(
    texts: readonly Uint8Array[],
    at: Date,
    leftOut: readonly SkippedFile[] = [],
  ): Promise<void> {
    const heldBefore = heldBytes.get(this);
    this.#takeRoom(texts.reduce((sum, text) => sum + text.length, 0));
    try {
      this.#content = await Content.read(texts, this.#options.floating);
    } catch (error) {
      this.#releaseMemory(heldBefore);
      throw error;
    }
    this.#leftOut = leftOut;
    this.#prepared = undefined;
    this.confirm(at);
  }

  /** Gives back what it holds; it is not read again. */
  close(): void {
    heldBytes.delete(this);
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
    const content = this.#content;
    if (!content) return [];
    const { from, to } = this.#prepared?.span ?? {};
    if (this.#prepared && from === span.from && to === span.to)
      return this.#prepared.expansion.events;
    const expansion = await this.#expand(content, span);
    if (content === this.#content) this.#prepared = { span, expansion };
    return expansion.events;
  }

  /** The events of another span. */
  async eventsIn(span: Span): Promise<readonly CalendarEvent[]> {
    return this.#content ? (await this.#expand(this.#content, span)).events : [];
  }

  view(): CalendarSource {
    const { id, fallbackName } = this.#options;
    const error = this.#fault ?? this.#remarks;
    return {
      id,
      name: this.#settings.name ?? this.#content?.name ?? fallbackName,
      color: this.#marking.color,
      status: this.#fault === undefined ? "ok" : this.#content ? "stale" : "error",
      fetchedAt: this.#fetchedAt?.toISOString() ?? null,
      ...(error === undefined ? {} : { error }),
    };
  }

  #takeRoom(bytes: number): void {
    const others = [...heldBytes].reduce(
      (sum, [source, size]) => sum + (source === this ? 0 : size),
      0,
    );
    if (others + bytes > MAX_HELD_BYTES) {
      const [had, has] = [others, bytes].map((each) => Math.ceil(each / 1e6));
      const text = `its ${has} MB are too much beside the ${had} MB of the other calendars`;
      throw new MantelError("invalid", `${text}: at most 30 MB are held`);
    }
    heldBytes.set(this, bytes);
  }

  /**
   * Releases the memory reserved for content that was not read; previous content keeps its share.
   */
  #releaseMemory(had: number | undefined): void {
    if (had === undefined) heldBytes.delete(this);
    else if (heldBytes.has(this)) heldBytes.set(this, had); // it was not closed in the meantime
  }

  async #expand(content: Content, span: Span): Promise<Expansion> {
    const expansion = await content.eventsIn(span, this.#marking);
    const showing = { ...this.#settings, busyWord: busyWord(this.#options.locale ?? "en") };
    return { ...expansion, events: shownEvents(expansion.events, showing) };
  }

  get #marking() {
    const { id, fallbackColor } = this.#options;
    const color = this.#settings.color ?? fallbackColor ?? this.#content?.color ?? paletteColor(id);
    return { calendarId: id, color };
  }

  /** A note about left-out parts of readable content. */
  get #remarks(): string | undefined {
    const tell = this.#settings.private ? countSkipped : describeSkipped;
    const files = this.#leftOut.length > 0 ? tell(this.#leftOut) : undefined;
    return [files, this.#skipped].filter((each) => each !== undefined).join(". ") || undefined;
  }

  get #skipped(): string | undefined {
    const { skipped = 0, reason } = this.#prepared?.expansion ?? {};
    if (skipped === 0) return undefined;
    const count = `${skipped} ${skipped === 1 ? "event was" : "events were"} skipped`;
    // faults must not reveal the content of a private calendar
    return this.#settings.private ? count : `${count}; the first because: ${reason}`;
  }
}
