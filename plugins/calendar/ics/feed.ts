import { createHash } from "node:crypto";
import { type CalendarEvent, type Sentence, sentence } from "@mantel/plugin-sdk";
import { parseColor } from "../color.ts";
import { reasonOf } from "../reason.ts";
import { type CalendarMarking, toCalendarEvent } from "../view.ts";
import { attendanceOf, mailAddress } from "./attendance.ts";
import { firstText, lineOf } from "./content-line.ts";
import { describedZone } from "./described-zone.ts";
import { type FeedZones, type ParsedEvent, parseEvent, parseFirstOccurrence } from "./event.ts";
import { FoundEvents } from "./found-events.ts";
import { MAX_EVENTS, parseFeed, type RawCalendar, type RawEvent, tooManyEvents } from "./parse.ts";
import { Budget } from "./recurrence-expansion.ts";
import { roughSpan } from "./rough-span.ts";
import { firstOccurrence, occurrencesOf, type Series, type Span } from "./series.ts";
import { TimeSlice } from "./time-slice.ts";
import { seriesOf } from "./versions.ts";
import { zoneTable } from "./vtimezone.ts";
import { findZone, type Zone } from "./zones.ts";

/** The events of a feed in a span, and the numbers of events that could not be read as they are. */
export interface Expansion {
  readonly events: readonly CalendarEvent[];
  readonly skipped: number;
  /** Events of which only the first occurrence is shown, because their repetitions cannot be followed. */
  readonly simplified: number;
  /** Reason for the first skipped or simplified event. */
  readonly reason: Sentence | undefined;
  /** True if a limit of the whole feed was reached, so that unbroken events are missing. */
  readonly isPartial: boolean;
}

/**
 * Maximum days of recurrences to check for one span, for one event and for all events of a feed.
 */
const EVENT_DAYS = 200_000;
const FEED_DAYS = 1_000_000;
/** Enough for a daily series over thirteen years in which each day was changed. */
const MAX_SAME_UID = 5_000;
const NAME_LENGTH = 200;

/** The facts about a source that its feed depends on. */
export interface FeedContext {
  /** The zone for times without a zone, unless the feed sets one. */
  readonly floating: Zone;
  /** Mail addresses of the calendar's own person. */
  readonly addresses?: readonly string[];
}

/**
 * The content of one file or address. It is split once, and events are parsed only when a span
 * needs them.
 */
export class Feed {
  /** The name in the feed itself. */
  readonly name: string | undefined;
  readonly color: string | undefined;
  /** The reason why it has no events. */
  readonly remark: Sentence | undefined;
  /** By UID. */
  readonly #groups: ReadonlyMap<string, Group>;

  /** @throws MantelError `invalid` for content that is not a calendar */
  static async read(
    bytes: Uint8Array,
    floating: Zone,
    addresses: readonly string[] = [],
  ): Promise<Feed> {
    return Feed.of(await parseFeed(bytes, new TimeSlice()), { floating, addresses });
  }

  /**
   * @param previous the feed before, of which events in the same calendars are not worked out again
   * @throws MantelError `invalid` for too many events
   */
  static async of(
    calendars: readonly RawCalendar[],
    context: FeedContext,
    previous?: Feed,
  ): Promise<Feed> {
    if (calendars.reduce((sum, { events }) => sum + events.length, 0) > MAX_EVENTS) {
      throw tooManyEvents();
    }
    const before = previous ? previous.#groups : undefined;
    return new Feed(calendars, await groupsOf(calendars, context, before));
  }

  private constructor(calendars: readonly RawCalendar[], groups: ReadonlyMap<string, Group>) {
    const lines = calendars.flatMap((each) => each.lines);
    const color = firstText(lines, "X-APPLE-CALENDAR-COLOR") ?? firstText(lines, "COLOR");
    const name = firstText(lines, "X-WR-CALNAME") ?? firstText(lines, "NAME");
    this.name = name?.slice(0, NAME_LENGTH);
    this.color = parseColor(color) ?? undefined;
    this.remark = groups.size === 0 ? otherContentOf(calendars) : undefined;
    this.#groups = groups;
  }

  /**
   * Expands the events in a span. A broken or too slow event is skipped and counted.
   * @param isKept true for a span that is asked for again when some events have changed
   */
  async eventsIn(span: Span, marking: CalendarMarking, isKept = false): Promise<Expansion> {
    const found = new FoundEvents();
    const faults: Sentence[] = [];
    let isCutOff = false;
    const task: Task = {
      span,
      marking,
      isKept,
      slice: new TimeSlice(),
      whole: new Budget(FEED_DAYS),
      found,
      faults,
      simplified: [],
    };
    try {
      for (const group of this.#groups.values()) {
        if (group.span.to > span.from && group.span.from < span.to) await expand(group, task);
      }
    } catch (error) {
      isCutOff = true;
      faults.push(reasonOf(error)); // the limit was reached, and the events found so far are shown
    }
    const isPartial = isCutOff || found.hasLeftOut || task.whole.isUsedUp;
    const { simplified } = task;
    const reason = faults[0] ?? simplified[0];
    return {
      events: found.events(),
      skipped: faults.length,
      simplified: simplified.length,
      reason,
      isPartial,
    };
  }
}

/** Names what a calendar without events has instead. */
function otherContentOf(calendars: readonly RawCalendar[]): Sentence | undefined {
  const sum = (kind: "tasks" | "notes") =>
    calendars.reduce((count, { others }) => count + others[kind], 0);
  const [tasks, notes] = [sum("tasks"), sum("notes")];
  if (tasks > 0 && notes > 0) {
    return sentence(
      "tasks_and_notes",
      "it has no events, only tasks ({tasks}) and notes ({notes})",
      {
        tasks,
        notes,
      },
    );
  }
  if (tasks > 0) return sentence("only_tasks", "it has no events, only tasks ({tasks})", { tasks });
  if (notes > 0) return sentence("only_notes", "it has no events, only notes ({notes})", { notes });
  return undefined;
}

/**
 * All events with one UID, also from several calendars of one feed. Parsed when a span first needs
 * them.
 */
interface Group {
  readonly events: readonly Placed[];
  /** A span that covers all of them. */
  readonly span: Span;
  read?: { readonly series: readonly Series[]; readonly faults: readonly Sentence[] };
  /** The last result, which is asked for again when other events have changed. */
  expanded?: Expanded;
}

/** The events of a group in a span. */
interface Expanded {
  readonly span: Span;
  readonly marking: CalendarMarking;
  /** By series. */
  readonly events: readonly (readonly CalendarEvent[])[];
  readonly faults: readonly Sentence[];
  readonly simplified: readonly Sentence[];
}

/** An event, and the properties of its calendar. */
interface Placed {
  readonly raw: RawEvent;
  readonly calendar: PlacedCalendar;
}

/** The properties of a calendar that its events need, read when the first of them does. */
class PlacedCalendar {
  readonly #raw: RawCalendar;
  readonly #context: FeedContext;
  /** As `mailAddress` writes them. */
  readonly addresses: readonly string[];
  #read: { readonly zones: FeedZones; readonly cancels: boolean } | undefined;

  constructor(raw: RawCalendar, context: FeedContext) {
    this.#raw = raw;
    this.#context = context;
    this.addresses = (context.addresses ?? []).map(mailAddress);
  }

  get read() {
    return (this.#read ??= {
      zones: zonesOf(this.#raw, this.#context.floating),
      cancels: cancels(this.#raw),
    });
  }
}

async function groupsOf(
  calendars: readonly RawCalendar[],
  context: FeedContext,
  previous: ReadonlyMap<string, Group> = new Map(),
): Promise<Map<string, Group>> {
  const slice = new TimeSlice();
  const byUid = new Map<string, Placed[]>();
  for (const each of calendars) {
    const calendar = new PlacedCalendar(each, context);
    for (const raw of each.events) {
      const uid = lineOf(raw.lines, "UID") ?? raw.lines.join("\n");
      const group = byUid.get(uid);
      if (group) group.push({ raw, calendar });
      else byUid.set(uid, [{ raw, calendar }]);
    }
    if (slice.isOver) await slice.yield();
  }
  const groups = new Map<string, Group>();
  for (const [uid, events] of byUid) {
    const known = previous.get(uid);
    const isSame = known && hasSameEvents(known.events, events);
    groups.set(uid, isSame ? known : { events, span: roughSpan(events.map(({ raw }) => raw)) });
    if (slice.isOver) await slice.yield();
  }
  return groups;
}

/** Events of a file that was not parsed again are the same objects. */
function hasSameEvents(a: readonly Placed[], b: readonly Placed[]): boolean {
  return a.length === b.length && a.every(({ raw }, at) => raw === b[at]?.raw);
}

function zonesOf({ lines, zones }: RawCalendar, homeZone: Zone): FeedZones {
  const name = firstText(lines, "X-WR-TIMEZONE");
  const floating = name === undefined ? undefined : (findZone(name) ?? describedZone(name));
  return { floating: floating ?? homeZone, find: zoneTable(zones) };
}

/** True for a cancellation message (RFC 5546, 3.2.5), as saved by mail programs. */
function cancels({ lines }: RawCalendar): boolean {
  return firstText(lines, "METHOD")?.toUpperCase() === "CANCEL";
}

/** State of the expansion of one span of a feed. */
interface Task {
  readonly span: Span;
  readonly marking: CalendarMarking;
  readonly isKept: boolean;
  readonly slice: TimeSlice;
  /** The shared budget for all events of the feed. */
  readonly whole: Budget;
  /** The events found so far. */
  readonly found: FoundEvents;
  /** Reasons for skipped events so far. */
  readonly faults: Sentence[];
  /** Reasons for simplified events so far. */
  readonly simplified: Sentence[];
}

/**
 * Adds the events of a group.
 * @throws MantelError `invalid` if the feed has far too many
 */
async function expand(group: Group, task: Task): Promise<void> {
  const { found, faults, simplified } = task;
  const known = group.expanded;
  const expanded = known && isFor(known, task) ? known : await workOut(group, task);
  faults.push(...expanded.faults);
  simplified.push(...expanded.simplified);
  for (const events of expanded.events) faults.push(...found.add(events));
}

function isFor({ span, marking }: Expanded, task: Task): boolean {
  return (
    span.from === task.span.from &&
    span.to === task.span.to &&
    marking.calendarId === task.marking.calendarId &&
    marking.color === task.marking.color
  );
}

async function workOut(group: Group, task: Task): Promise<Expanded> {
  const { span, marking, slice, whole } = task;
  group.read ??= await read(group, slice);
  const faults = [...group.read.faults];
  const simplified: Sentence[] = [];
  const events: (readonly CalendarEvent[])[] = [];
  for (const series of group.read.series) {
    const { problem } = series.master ?? {};
    if (problem !== undefined) simplified.push(problem);
    try {
      const occurrences = occurrencesOf(series, span, new Budget(EVENT_DAYS, whole));
      events.push(occurrences.map((each) => toCalendarEvent(each, marking)));
    } catch (error) {
      events.push(firstEventOf(series, reasonOf(error), { span, marking, faults, simplified }));
    }
    if (slice.isOver) await slice.yield();
  }
  const expanded = { span, marking, events, faults, simplified };
  // with the room of the whole feed used up, another event may have taken that of this one
  if (task.isKept && !whole.isUsedUp) group.expanded = expanded;
  return expanded;
}

/** The first occurrence of a series that cannot be expanded, if that can be shown. */
function firstEventOf(
  series: Series,
  reason: Sentence,
  { span, marking, faults, simplified }: Pick<Task, "span" | "marking" | "faults" | "simplified">,
): CalendarEvent[] {
  try {
    const first = firstOccurrence(series, span, reason);
    const events = first.map((each) => toCalendarEvent(each, marking));
    (series.master ? simplified : faults).push(reason);
    return events;
  } catch {
    faults.push(reason);
    return [];
  }
}

async function read({ events }: Group, slice: TimeSlice): Promise<NonNullable<Group["read"]>> {
  if (events.length > MAX_SAME_UID) {
    return {
      series: [],
      faults: [sentence("one_uid", "{count} events have one UID", { count: events.length })],
    };
  }
  const parsed: ParsedEvent[] = [];
  const faults: Sentence[] = [];
  for (const each of events) {
    try {
      parsed.push(readEvent(each));
    } catch (error) {
      faults.push(reasonOf(error));
    }
    if (slice.isOver) await slice.yield();
  }
  return { series: seriesOf(parsed), faults };
}

function readEvent({ raw, calendar }: Placed): ParsedEvent {
  const { zones, cancels: isCancelled } = calendar.read;
  const event = parseAsFarAsPossible(raw, zones);
  const uid = event.uid === "" ? contentId(raw) : event.uid;
  const status = isCancelled ? ("cancelled" as const) : event.text.status;
  const attendance = attendanceOf(raw.attendees ?? [], calendar.addresses);
  return { ...event, uid, text: { ...event.text, status, attendance } };
}

function parseAsFarAsPossible(raw: RawEvent, zones: FeedZones): ParsedEvent {
  try {
    return parseEvent(raw, zones);
  } catch (error) {
    return parseFirstOccurrence(raw, zones, reasonOf(error));
  }
}

/** An id for an event without UID. It stays the same for the same event. */
function contentId({ lines }: RawEvent): string {
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 24);
}
