import { type CalendarSource, MantelError } from "@mantel/plugin-sdk";
import { paletteColor } from "./color.ts";
import { Content } from "./content.ts";
import type { Expansion } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import type { Zone } from "./ics/zones.ts";
import type { Settings } from "./options.ts";
import { busyWord, shownEvents, withWords } from "./shown.ts";
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
  /** True if its tasks are shown as well. */
  readonly hasTasks?: boolean | undefined;
  /** True if its server lets clients create and change events. */
  readonly writable?: boolean;
  /** BCP 47, for words in place of titles that are hidden. */
  readonly locale?: string;
}

/** The reason for showing a stored calendar as stale. */
const UNCONFIRMED = "its server has not answered yet, so older events are shown";
const FIRST_READ = "it is being read for the first time";

/** Other spans whose events are kept, because they are asked for again. */
const MAX_OTHER_SPANS = 2;

const NOTHING: Expansion = {
  events: [],
  skipped: 0,
  simplified: 0,
  reason: undefined,
  isPartial: false,
};

type Details = Pick<
  CalendarSource,
  "writable" | "incomplete" | "fingerprint" | "progress" | "error"
>;

/** The progress of a transfer. */
export type Progress = NonNullable<CalendarSource["progress"]>;

function describe({ done, total, unit }: Progress): string {
  const count = (number: number) =>
    unit === "bytes" ? (number / 1e6).toFixed(1) : String(Math.round(number));
  const of = total === null ? "" : ` of ${count(total)}`;
  return `${count(done)}${of} ${unit === "bytes" ? "MB" : "events"} are read`;
}

/** Facts about content besides its text. */
interface ContentFacts {
  readonly changedAt?: Date;
  readonly leftOut?: readonly SkippedFile[];
}

/** Content of all calendars together: with more, the largest would take the memory of all. */
const MAX_HELD_BYTES = 30_000_000;
const heldBytes = new Map<Source, number>();

/** One calendar: its last good content, and how its last reading went. */
export class Source {
  readonly id: string;
  #options: SourceOptions;
  readonly #settings: Settings;
  #content: Content | undefined;
  #leftOut: readonly SkippedFile[] = [];
  #fetchedAt: Date | undefined;
  #changedAt: Date | undefined;
  #fault: string | undefined = FIRST_READ;
  /** True until the first reading has ended, well or badly. */
  #isPending = true;
  #fingerprint: string | undefined;
  /** Set while more of the content is read, and when that was cut short. */
  #progress: Progress | undefined;
  /** Grows with each change of what events are made of. */
  #version = 0;
  #prepared: { readonly span: Span; readonly expansion: Expansion } | undefined;
  /** By span, oldest first. */
  readonly #others = new Map<string, Promise<Expansion>>();

  constructor(options: SourceOptions) {
    this.id = options.id;
    this.#options = options;
    this.#settings = options.settings ?? {};
  }

  /**
   * Takes new content.
   *
   * @param texts each is a calendar, or contacts, of which it takes the birthdays
   * @param about.changedAt when the content changed; absent means now
   * @param about.leftOut files that belong to it, and are not in the content
   * @throws MantelError `invalid`; the content before stays
   */
  async read(
    texts: readonly Uint8Array[],
    at: Date,
    { changedAt = at, leftOut = [] }: ContentFacts = {},
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
    this.#changedAt = changedAt;
    this.#forgetExpansions();
    this.confirm(at);
  }

  /** Takes a stored copy, which is stale until the server has confirmed it. @throws MantelError as `read` */
  async restore(
    texts: readonly Uint8Array[],
    at: Date,
    facts: Required<ContentFacts>,
  ): Promise<void> {
    await this.read(texts, at, facts);
    this.#fault = UNCONFIRMED;
  }

  /** Changes the name and colour that the calendar has at its server. */
  rename(looks: Pick<SourceOptions, "fallbackName" | "fallbackColor" | "hasTasks">) {
    this.#options = { ...this.#options, ...looks };
    this.#forgetExpansions();
  }

  /** Gives back what it holds; it is not read again. */
  close(): void {
    heldBytes.delete(this);
  }

  /** The content is the same as before. */
  confirm(at: Date): void {
    this.#fetchedAt = at;
    this.#fault = undefined;
    this.#fingerprint = undefined;
    this.#progress = undefined;
    this.#isPending = false;
  }

  /** Sets the time of a confirmation that a previous process received. */
  wasConfirmed(at: Date): void {
    if (this.#fetchedAt && this.#fetchedAt < at) this.#fetchedAt = at;
  }

  /** The content is only a part so far; more of it is being read. */
  readsOn(progress: Progress): void {
    this.#progress = progress;
  }

  get fetchedAt(): Date | undefined {
    return this.#fetchedAt;
  }

  /**
   * The last reading failed, for a reason that is safe to show.
   * @param fingerprint the fingerprint of a certificate that the user may accept
   */
  fail(reason: string, fingerprint?: string): void {
    this.#fault = reason;
    this.#fingerprint = fingerprint;
    if (this.#progress?.unit === "bytes") this.#progress = undefined;
    this.#isPending = false;
  }

  /** The events of a span that is asked for again and again; worked out once for each content. */
  async prepare(span: Span): Promise<Expansion> {
    const content = this.#content;
    if (!content) return NOTHING;
    const { from, to } = this.#prepared?.span ?? {};
    if (this.#prepared && from === span.from && to === span.to) return this.#prepared.expansion;
    const version = this.#version;
    const expansion = await this.#expand(content, span);
    if (version === this.#version) this.#prepared = { span, expansion };
    return expansion;
  }

  /** The events of another span. A result that comes too late for its caller is there for the next one. */
  eventsIn(span: Span): Promise<Expansion> {
    const content = this.#content;
    if (!content) return Promise.resolve(NOTHING);
    const key = `${span.from} ${span.to}`;
    const expansion = this.#others.get(key) ?? this.#expand(content, span);
    this.#others.delete(key);
    this.#others.set(key, expansion);
    const [oldest] = this.#others.keys();
    if (oldest !== undefined && this.#others.size > MAX_OTHER_SPANS) this.#others.delete(oldest);
    expansion.catch(() => {
      if (this.#others.get(key) === expansion) this.#others.delete(key);
    });
    return expansion;
  }

  /** The state, with what is to say of the events of a span. */
  view(expansion?: Expansion): CalendarSource {
    const { id, fallbackName } = this.#options;
    return {
      id,
      name: this.#settings.name ?? this.#content?.name ?? fallbackName,
      color: this.#marking.color,
      status: this.#fault === undefined ? "ok" : this.#content ? "stale" : "error",
      fetchedAt: this.#fetchedAt?.toISOString() ?? null,
      changedAt: this.#changedAt?.toISOString() ?? null,
      ...this.#details(expansion),
    };
  }

  /** The fields of the state that are present only if there is something to say. */
  #details(expansion: Expansion | undefined): Details {
    const details: { -readonly [K in keyof Details]: Details[K] } = {};
    const progress = this.#progress;
    const isPartial = expansion?.isPartial || (this.#content && progress?.unit === "events");
    if (this.#isPending) details.incomplete = "pending";
    else if (isPartial) details.incomplete = "partial";
    if (this.#options.writable && !this.isPrivate) details.writable = true;
    if (this.#fingerprint !== undefined) details.fingerprint = this.#fingerprint;
    if (progress) details.progress = progress;
    const reason = this.#fault ?? this.#remarksOn(expansion);
    const error = [reason, progress && describe(progress)].filter((each) => each !== undefined);
    if (error.length > 0) details.error = error.join(": ");
    return details;
  }

  /** The state, with what is to say of the published events. */
  get state(): CalendarSource {
    return this.view(this.#prepared?.expansion);
  }

  /** The zone for times without a zone. */
  get zone(): Zone {
    return this.#options.floating;
  }

  /** The tasks that its settings let be seen: of a private calendar none. */
  shown<T extends { readonly title: string }>(tasks: readonly T[]): readonly T[] {
    return this.isPrivate ? [] : withWords(tasks, this.#settings);
  }

  get isPrivate(): boolean {
    return this.#settings.private === true;
  }

  #forgetExpansions(): void {
    this.#version++;
    this.#prepared = undefined;
    this.#others.clear();
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
  #remarksOn(expansion: Expansion | undefined): string | undefined {
    const tell = this.isPrivate ? countSkipped : describeSkipped;
    const files = this.#leftOut.length > 0 ? tell(this.#leftOut) : undefined;
    const skipped = expansion && this.#skippedIn(expansion);
    return (
      [this.#options.hasTasks ? undefined : this.#content?.remark, files, skipped]
        .filter((each) => each !== undefined)
        .join(". ") || undefined
    );
  }

  #skippedIn({ skipped, simplified, reason }: Expansion): string | undefined {
    if (skipped + simplified === 0) return undefined;
    const counts = [
      skipped > 0 ? `${skipped} ${skipped === 1 ? "event was" : "events were"} skipped` : "",
      simplified > 0
        ? `of ${simplified} ${simplified === 1 ? "event" : "events"} only the first occurrence is shown`
        : "",
    ];
    const count = counts.filter((each) => each !== "").join(", ");
    // faults must not reveal the content of a private calendar
    return this.isPrivate ? count : `${count}; the first because: ${reason}`;
  }
}
