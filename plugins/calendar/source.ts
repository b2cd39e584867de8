import {
  type CalendarEvent,
  type CalendarSource,
  inEnglish,
  MantelError,
  type Sentence,
  sentence,
} from "@mantel/plugin-sdk";
import { paletteColor } from "./color.ts";
import { Content } from "./content.ts";
import type { Expansion } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import { DAY_MS, type Zone } from "./ics/zones.ts";
import type { Settings } from "./options.ts";
import { type ParsedFile, parseFile } from "./parsed-file.ts";
import { busyWord, type DisplayOptions, shownEvents, withWords } from "./shown.ts";
import {
  countSkipped,
  describeSkipped,
  remark,
  type Remark,
  remarkWithReason,
  type SkippedFile,
} from "./skipped-files.ts";

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
  /** The days around each reading whose events its server gives; absent means all. */
  readonly daysRead?: DaysRead | undefined;
  /** Mail addresses of its person, unless the settings have others. */
  readonly addresses?: readonly string[];
  /** BCP 47, for words in place of titles that are hidden. */
  readonly locale?: string;
}

/** Days before and after a reading. */
export interface DaysRead {
  readonly before: number;
  readonly after: number;
}

/** Events with the span that was asked for. */
type Expanded = Expansion & { readonly span?: Span };

/** The reason for showing a stored calendar as stale. */
const UNCONFIRMED = sentence(
  "unconfirmed",
  "its server has not answered yet, so older events are shown",
);
const FIRST_READ = sentence("first_read", "it is being read for the first time");

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
  "writable" | "incomplete" | "skipped" | "fingerprint" | "progress" | "error" | "reasons"
>;

/** The progress of a transfer. */
export type Progress = NonNullable<CalendarSource["progress"]>;

function describe({ done, total, unit }: Progress): Sentence {
  const count = (number: number) =>
    unit === "bytes" ? (number / 1e6).toFixed(1) : String(Math.round(number));
  const values = { done: count(done) };
  if (unit === "bytes") {
    return total === null
      ? sentence("megabytes_read", "{done} MB are read", values)
      : sentence("megabytes_read_of", "{done} of {total} MB are read", {
          ...values,
          total: count(total),
        });
  }
  return total === null
    ? sentence("events_read", "{done} events are read", values)
    : sentence("events_read_of", "{done} of {total} events are read", {
        ...values,
        total: count(total),
      });
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
  #fault: Remark | undefined = remark(FIRST_READ);
  #fingerprint: string | undefined;
  /** Set while more of the content is read, and when that was cut short. */
  #progress: Progress | undefined;
  /** Grows with each change of what events are made of. */
  #version = 0;
  #prepared: { readonly span: Span; readonly expansion: Expanded } | undefined;
  /** By span, oldest first. */
  readonly #others = new Map<string, Promise<Expanded>>();

  constructor(options: SourceOptions) {
    this.id = options.id;
    this.#options = options;
    this.#settings = options.settings ?? {};
  }

  /**
   * Takes new content from its bytes.
   * @param texts each is a calendar, or contacts, of which it takes the birthdays
   * @throws MantelError as `take`
   */
  async read(texts: readonly Uint8Array[], at: Date, facts?: ContentFacts): Promise<void> {
    const room = texts.reduce((sum, text) => sum + text.length, 0);
    await this.#inRoom(room, async () => {
      const files: ParsedFile[] = [];
      for (const text of texts) files.push(await parseFile(text));
      await this.#set(files, at, facts);
    });
  }

  /**
   * Takes new content.
   * @param facts.changedAt when the content changed; absent means now
   * @param facts.leftOut files that belong to it, and are not in the content
   * @throws MantelError `invalid`; the content before stays
   */
  async take(files: readonly ParsedFile[], at: Date, facts?: ContentFacts): Promise<void> {
    const room = files.reduce((sum, { size }) => sum + size, 0);
    await this.#inRoom(room, () => this.#set(files, at, facts));
  }

  /** Takes a stored copy, which is stale until the server has confirmed it. @throws MantelError as `take` */
  async restore(
    files: readonly ParsedFile[],
    at: Date,
    facts: Required<ContentFacts>,
  ): Promise<void> {
    await this.take(files, at, facts);
    this.#fault = remark(UNCONFIRMED);
  }

  async #set(
    files: readonly ParsedFile[],
    at: Date,
    { changedAt = at, leftOut = [] }: ContentFacts = {},
  ): Promise<void> {
    const context = { floating: this.zone, addresses: this.addresses };
    this.#content = await Content.of(files, context, this.#content);
    this.#leftOut = leftOut;
    this.#changedAt = changedAt;
    this.#forgetExpansions();
    this.confirm(at);
  }

  /** Changes the name and colour that the calendar has at its server. */
  rename(looks: Pick<SourceOptions, "fallbackName" | "fallbackColor" | "hasTasks" | "writable">) {
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

  /** True once it was read, now or by a previous process. */
  get hasContent(): boolean {
    return this.#content !== undefined;
  }

  /**
   * The last reading failed, for a reason that is safe to show.
   * @param fingerprint the fingerprint of a certificate that the user may accept
   */
  fail(reason: Sentence, fingerprint?: string): void {
    this.#fault = remark(reason);
    this.#fingerprint = fingerprint;
    if (this.#progress?.unit === "bytes") this.#progress = undefined;
  }

  /** The last reading failed, because none of its files can be read. */
  failFor(leftOut: readonly SkippedFile[]): void {
    this.#fault = this.isPrivate ? countSkipped(leftOut) : describeSkipped(leftOut);
  }

  /** The events of a span that is asked for again and again; worked out once for each content. */
  async prepare(span: Span): Promise<Expanded> {
    const content = this.#content;
    if (!content) return NOTHING;
    const { from, to } = this.#prepared?.span ?? {};
    if (this.#prepared && from === span.from && to === span.to) return this.#prepared.expansion;
    const version = this.#version;
    const expansion = await this.#expand(content, span, true);
    if (version === this.#version) this.#prepared = { span, expansion };
    return expansion;
  }

  /** The events of another span. A result that comes too late for its caller is there for the next one. */
  eventsIn(span: Span): Promise<Expanded> {
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
  view(expansion?: Expanded): CalendarSource {
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
  #details(expansion: Expanded | undefined): Details {
    const progress = this.#progress;
    const { skipped = 0, simplified = 0 } = expansion ?? {};
    return withoutUndefined({
      incomplete: this.#incompleteIn(expansion),
      skipped: this.#leftOut.length + skipped + simplified || undefined,
      writable: (this.#options.writable && !this.isPrivate) || undefined,
      fingerprint: this.#fingerprint,
      progress,
      ...this.#told(expansion, progress && describe(progress)),
    });
  }

  #incompleteIn(expansion: Expanded | undefined): CalendarSource["incomplete"] {
    // the host shows the events from before until everything is read
    if (!this.#content || this.#progress?.unit === "events") return "pending";
    return expansion?.isPartial || this.#unread(expansion) ? "partial" : undefined;
  }

  /** The days that were read, if the span has others. */
  #unread(expansion: Expanded | undefined): DaysRead | undefined {
    const { daysRead } = this.#options;
    const readAt = this.#fetchedAt?.getTime();
    const span = expansion?.span;
    if (!daysRead || readAt === undefined || !span) return undefined;
    const isOutside =
      span.from < readAt - daysRead.before * DAY_MS || span.to > readAt + daysRead.after * DAY_MS;
    return isOutside ? daysRead : undefined;
  }

  #told(
    expansion: Expanded | undefined,
    progress: Sentence | undefined,
  ): { error?: string; reasons?: Sentence[] } {
    const remarks = this.#fault ? [this.#fault] : this.#remarksOn(expansion);
    const more = progress ? [progress] : [];
    const texts = [remarks.map(({ text }) => text).join(". "), ...more.map(inEnglish)];
    const error = texts.filter((each) => each !== "").join(": ");
    if (error === "") return {};
    return { error, reasons: [...remarks.flatMap(({ sentences }) => sentences), ...more] };
  }

  /** The state, with what is to say of the published events. */
  get state(): CalendarSource {
    return this.view(this.#prepared?.expansion);
  }

  /** The zone for times without a zone. */
  get zone(): Zone {
    return this.#options.floating;
  }

  /** Mail addresses of its person. */
  get addresses(): readonly string[] {
    return this.#settings.mailAddresses ?? this.#options.addresses ?? [];
  }

  /** The tasks that its settings let be seen: of a private calendar none. */
  shown<T extends { readonly title: string }>(tasks: readonly T[]): readonly T[] {
    return this.isPrivate ? [] : withWords(tasks, this.#settings);
  }

  /** An event as its settings let it be seen; `undefined` if they hide it. */
  shownEvent(event: CalendarEvent): CalendarEvent | undefined {
    return shownEvents([event], this.#showing)[0];
  }

  get isPrivate(): boolean {
    return this.#settings.private === true;
  }

  #forgetExpansions(): void {
    this.#version++;
    this.#prepared = undefined;
    this.#others.clear();
  }

  /** Reserves memory for content while it is read; previous content keeps its share if that fails. */
  async #inRoom(bytes: number, work: () => Promise<void>): Promise<void> {
    const before = heldBytes.get(this);
    const others = [...heldBytes].reduce(
      (sum, [source, size]) => sum + (source === this ? 0 : size),
      0,
    );
    if (others + bytes > MAX_HELD_BYTES) throw noRoom(bytes, others);
    heldBytes.set(this, bytes);
    try {
      await work();
    } catch (error) {
      if (before === undefined) heldBytes.delete(this);
      else if (heldBytes.has(this)) heldBytes.set(this, before); // it was not closed in the meantime
      throw error;
    }
  }

  async #expand(content: Content, span: Span, isKept = false): Promise<Expanded> {
    const expansion = await content.eventsIn(span, this.#marking, isKept);
    return { ...expansion, span, events: shownEvents(expansion.events, this.#showing) };
  }

  get #showing(): DisplayOptions {
    return { ...this.#settings, busyWord: busyWord(this.#options.locale ?? "en") };
  }

  get #marking() {
    const { id, fallbackColor } = this.#options;
    const color = this.#settings.color ?? fallbackColor ?? this.#content?.color ?? paletteColor(id);
    return { calendarId: id, color };
  }

  /** Notes about left-out parts of readable content. */
  #remarksOn(expansion: Expanded | undefined): Remark[] {
    const unread = this.#unread(expansion);
    const content = this.#options.hasTasks ? undefined : this.#content?.remark;
    const tell = this.isPrivate ? countSkipped : describeSkipped;
    return [
      ...(content ? [remark(content)] : []),
      ...(this.#leftOut.length > 0 ? [tell(this.#leftOut)] : []),
      ...(expansion ? this.#skippedIn(expansion) : []),
      ...(unread ? [remark(onlyRead(unread))] : []),
    ];
  }

  #skippedIn({ skipped, simplified, reason }: Expansion): Remark[] {
    // faults must not reveal the content of a private calendar
    const told = this.isPrivate ? undefined : reason;
    const counts = [
      ...(skipped > 0 ? [skippedEvents(skipped)] : []),
      ...(simplified > 0 ? [simplifiedEvents(simplified)] : []),
    ];
    return counts.map((count, at) => remarkWithReason(count, at === 0 ? told : undefined));
  }
}

/** An object with only those of the fields that have a value. */
function withoutUndefined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as T;
}

function noRoom(bytes: number, others: number): MantelError {
  const [had, has] = [others, bytes].map((each) => Math.ceil(each / 1e6));
  const told = sentence(
    "no_memory",
    "its {has} MB are too much beside the {had} MB of the other calendars: at most {most} MB are held",
    { has: has ?? 0, had: had ?? 0, most: MAX_HELD_BYTES / 1e6 },
  );
  return new MantelError("invalid", told);
}

function onlyRead({ before, after }: DaysRead): Sentence {
  return sentence(
    "days_read",
    "its server is asked for events from {before} days ago to {after} days ahead",
    { before, after },
  );
}

function skippedEvents(count: number): Sentence {
  return count === 1
    ? sentence("event_skipped", "1 event was skipped")
    : sentence("events_skipped", "{count} events were skipped", { count });
}

function simplifiedEvents(count: number): Sentence {
  return count === 1
    ? sentence("event_simplified", "of 1 event only the first occurrence is shown")
    : sentence("events_simplified", "of {count} events only the first occurrence is shown", {
        count,
      });
}
