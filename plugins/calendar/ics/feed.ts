import { createHash } from "node:crypto";
import type { CalendarEvent } from "@mantel/plugin-sdk";
import { parseColor } from "../color.ts";
import { type CalendarMarking, toCalendarEvent } from "../view.ts";
import { firstText, lineOf } from "./content-line.ts";
import { describedZone } from "./described-zone.ts";
import { type FeedZones, type ParsedEvent, parseEvent, parseFirstOccurrence } from "./event.ts";
import { FoundEvents } from "./found-events.ts";
import { YieldingPace } from "./pace.ts";
import { parseFeed, type RawCalendar, type RawEvent } from "./parse.ts";
import { Budget } from "./recurrence-expansion.ts";
import { roughSpan } from "./rough-span.ts";
import { firstOccurrence, occurrencesOf, type Series, type Span } from "./series.ts";
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
  readonly reason: string | undefined;
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

/**
 * The content of one file or address. It is split once, and events are parsed only when a span
 * needs them.
 */
export class Feed {
  /** The name in the feed itself. */
  readonly name: string | undefined;
  readonly color: string | undefined;
  /** The reason why it has no events. */
  readonly remark: string | undefined;
  readonly #groups: readonly Group[];

  /**
   * @param floating the zone for times without a zone, unless the feed sets one
   * @throws MantelError `invalid` for content that is not a calendar
   */
  static async read(bytes: Uint8Array, floating: Zone): Promise<Feed> {
    const pace = new YieldingPace();
    const calendars = await parseFeed(bytes, pace);
    return new Feed(calendars, await groupsOf(calendars, floating, pace));
  }

  private constructor(calendars: readonly RawCalendar[], groups: readonly Group[]) {
    const lines = calendars.flatMap((each) => each.lines);
    const color = firstText(lines, "X-APPLE-CALENDAR-COLOR") ?? firstText(lines, "COLOR");
    const name = firstText(lines, "X-WR-CALNAME") ?? firstText(lines, "NAME");
    this.name = name?.slice(0, NAME_LENGTH);
    this.color = parseColor(color) ?? undefined;
    this.remark = groups.length === 0 ? otherContentOf(calendars) : undefined;
    this.#groups = groups;
  }

  /** Expands the events in a span. A broken or too slow event is skipped and counted. */
  async eventsIn(span: Span, marking: CalendarMarking): Promise<Expansion> {
    const found = new FoundEvents();
    const faults: string[] = [];
    let isCutOff = false;
    const task: Task = {
      span,
      marking,
      pace: new YieldingPace(),
      whole: new Budget(FEED_DAYS),
      found,
      faults,
      simplified: [],
    };
    try {
      for (const group of this.#groups) {
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
function otherContentOf(calendars: readonly RawCalendar[]): string | undefined {
  const sum = (kind: "tasks" | "notes") =>
    calendars.reduce((count, { others }) => count + others[kind], 0);
  const [tasks, notes] = [sum("tasks"), sum("notes")];
  const found = [
    ...(tasks > 0 ? [`${tasks} ${tasks === 1 ? "task" : "tasks"}`] : []),
    ...(notes > 0 ? [`${notes} ${notes === 1 ? "note" : "notes"}`] : []),
  ];
  return found.length > 0 ? `it has ${found.join(" and ")}, and no events` : undefined;
}

/**
 * All events with one UID, also from several calendars of one feed. Parsed when a span first needs
 * them.
 */
interface Group {
  readonly events: readonly Placed[];
  /** A span that covers all of them. */
  readonly span: Span;
  read?: { readonly series: readonly Series[]; readonly faults: readonly string[] };
}

/** An event, and the properties of its calendar. */
interface Placed {
  readonly raw: RawEvent;
  readonly calendar: { readonly zones: FeedZones; readonly cancels: boolean };
}

async function groupsOf(
  calendars: readonly RawCalendar[],
  homeZone: Zone,
  pace: YieldingPace,
): Promise<Group[]> {
  const byUid = new Map<string, Placed[]>();
  for (const each of calendars) {
    const calendar = { zones: zonesOf(each, homeZone), cancels: cancels(each) };
    for (const raw of each.events) {
      const uid = lineOf(raw.lines, "UID") ?? raw.lines.join("\n");
      const group = byUid.get(uid);
      if (group) group.push({ raw, calendar });
      else byUid.set(uid, [{ raw, calendar }]);
    }
  }
  const groups: Group[] = [];
  for (const events of byUid.values()) {
    groups.push({ events, span: roughSpan(events.map(({ raw }) => raw)) });
    if (pace.due) await pace.rest();
  }
  return groups;
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
  readonly pace: YieldingPace;
  /** The shared budget for all events of the feed. */
  readonly whole: Budget;
  /** The events found so far. */
  readonly found: FoundEvents;
  /** Reasons for skipped events so far. */
  readonly faults: string[];
  /** Reasons for simplified events so far. */
  readonly simplified: string[];
}

/**
 * Adds the events of a group.
 * @throws MantelError `invalid` if the feed has far too many
 */
async function expand(
  group: Group,
  { span, marking, pace, whole, found, faults, simplified }: Task,
): Promise<void> {
  group.read ??= await read(group, pace);
  faults.push(...group.read.faults);
  for (const series of group.read.series) {
    let events: CalendarEvent[] = [];
    const { problem } = series.master ?? {};
    if (problem !== undefined) simplified.push(problem);
    try {
      const occurrences = occurrencesOf(series, span, new Budget(EVENT_DAYS, whole));
      events = occurrences.map((each) => toCalendarEvent(each, marking));
    } catch (error) {
      events = firstEventOf(series, reasonOf(error), { span, marking, faults, simplified });
    }
    faults.push(...found.add(events));
    if (pace.due) await pace.rest();
  }
}

/** The first occurrence of a series that cannot be expanded, if that can be shown. */
function firstEventOf(
  series: Series,
  reason: string,
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

async function read({ events }: Group, pace: YieldingPace): Promise<NonNullable<Group["read"]>> {
  if (events.length > MAX_SAME_UID) {
    return { series: [], faults: [`${events.length} events have one UID`] };
  }
  const parsed: ParsedEvent[] = [];
  const faults: string[] = [];
  for (const each of events) {
    try {
      parsed.push(readEvent(each));
    } catch (error) {
      faults.push(reasonOf(error));
    }
    if (pace.due) await pace.rest();
  }
  return { series: seriesOf(parsed), faults };
}

function readEvent({ raw, calendar }: Placed): ParsedEvent {
  const event = parseAsFarAsPossible(raw, calendar.zones);
  const uid = event.uid === "" ? contentId(raw) : event.uid;
  const text = calendar.cancels ? { ...event.text, status: "cancelled" as const } : event.text;
  return { ...event, uid, text };
}

function parseAsFarAsPossible(raw: RawEvent, zones: FeedZones): ParsedEvent {
  try {
    return parseEvent(raw, zones);
  } catch (error) {
    return parseFirstOccurrence(raw, zones, reasonOf(error));
  }
}

/** An error in one event skips only that event, never the whole feed. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be read";
}

/** An id for an event without UID. It stays the same for the same event. */
function contentId({ lines }: RawEvent): string {
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 24);
}
