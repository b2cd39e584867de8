import { createHash } from "node:crypto";
import type { CalendarEvent } from "@mantel/plugin-sdk";
import { parseColor } from "../color.ts";
import { type Marking, toCalendarEvent } from "../view.ts";
import { firstText, lineOf } from "./content-line.ts";
import { describedZone } from "./described-zone.ts";
import { type FeedZones, type ParsedEvent, parseEvent } from "./event.ts";
import { FoundEvents } from "./found-events.ts";
import { Pace } from "./pace.ts";
import { parseFeed, type RawCalendar, type RawEvent } from "./parse.ts";
import { roughSpan } from "./rough-span.ts";
import { occurrencesOf, type Series, type Span } from "./series.ts";
import { Budget } from "./starts.ts";
import { seriesOf } from "./versions.ts";
import { zoneTable } from "./vtimezone.ts";
import { findZone, type Zone } from "./zones.ts";

/** The events of a feed in a span, and what of it could not be read. */
export interface Expansion {
  readonly events: readonly CalendarEvent[];
  readonly skipped: number;
  /** Why the first of the skipped events was skipped. */
  readonly reason: string | undefined;
}

/** Days of recurrences that one event, and all events of a feed, may have looked at for one span. */
const EVENT_DAYS = 200_000;
const FEED_DAYS = 1_000_000;
/** A series with every day of thirteen years changed. */
const MAX_SAME_UID = 5_000;
const NAME_LENGTH = 200;

/** What one file or address held, split once and read only where a span needs it. */
export class Feed {
  /** The name that the feed gives itself. */
  readonly name: string | undefined;
  readonly color: string | undefined;
  readonly #groups: readonly Group[];

  /**
   * @param floating where times without a zone are meant, unless the feed says it
   * @throws MantelError `invalid` for what is no calendar
   */
  static async read(bytes: Uint8Array, floating: Zone): Promise<Feed> {
    const pace = new Pace();
    const calendars = await parseFeed(bytes, pace);
    return new Feed(calendars, await groupsOf(calendars, floating, pace));
  }

  private constructor(calendars: readonly RawCalendar[], groups: readonly Group[]) {
    const lines = calendars.flatMap((each) => each.lines);
    const color = firstText(lines, "X-APPLE-CALENDAR-COLOR") ?? firstText(lines, "COLOR");
    const name = firstText(lines, "X-WR-CALNAME") ?? firstText(lines, "NAME");
    this.name = name?.slice(0, NAME_LENGTH);
    this.color = parseColor(color) ?? undefined;
    this.#groups = groups;
  }

  /** Works the span out. An event that is broken, or takes too long, is skipped and counted. */
  async eventsIn(span: Span, marking: Marking): Promise<Expansion> {
    const found = new FoundEvents();
    const faults: string[] = [];
    const task = { span, marking, pace: new Pace(), whole: new Budget(FEED_DAYS), found, faults };
    try {
      for (const group of this.#groups) {
        if (group.span.to > span.from && group.span.from < span.to) await expand(group, task);
      }
    } catch (error) {
      faults.push(reasonOf(error)); // it was too much, and what was found until then is shown
    }
    return { events: found.events(), skipped: faults.length, reason: faults[0] };
  }
}

/** All events of one UID, also from several calendars of one feed. They are read when a span first needs them. */
interface Group {
  readonly events: readonly Placed[];
  /** A span that surely holds all of them. */
  readonly span: Span;
  read?: { readonly series: readonly Series[]; readonly faults: readonly string[] };
}

/** An event, and what the calendar that it stands in says of it. */
interface Placed {
  readonly raw: RawEvent;
  readonly calendar: { readonly zones: FeedZones; readonly cancels: boolean };
}

async function groupsOf(
  calendars: readonly RawCalendar[],
  house: Zone,
  pace: Pace,
): Promise<Group[]> {
  const byUid = new Map<string, Placed[]>();
  for (const each of calendars) {
    const calendar = { zones: zonesOf(each, house), cancels: cancels(each) };
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

function zonesOf({ lines, zones }: RawCalendar, house: Zone): FeedZones {
  const name = firstText(lines, "X-WR-TIMEZONE");
  const floating = name === undefined ? undefined : (findZone(name) ?? describedZone(name));
  return { floating: floating ?? house, find: zoneTable(zones) };
}

/** True for a message that calls its events off (RFC 5546, 3.2.5), as mail programs save it. */
function cancels({ lines }: RawCalendar): boolean {
  return firstText(lines, "METHOD")?.toUpperCase() === "CANCEL";
}

/** What it takes to work out one span of a feed. */
interface Task {
  readonly span: Span;
  readonly marking: Marking;
  readonly pace: Pace;
  /** What the events of the feed may use up together. */
  readonly whole: Budget;
  /** What was found so far. */
  readonly found: FoundEvents;
  /** Why events were skipped so far. */
  readonly faults: string[];
}

/** Adds the events of a group. @throws MantelError `invalid` when the feed has far too many */
async function expand(
  group: Group,
  { span, marking, pace, whole, found, faults }: Task,
): Promise<void> {
  group.read ??= await read(group, pace);
  faults.push(...group.read.faults);
  for (const series of group.read.series) {
    let events: CalendarEvent[] = [];
    try {
      const occurrences = occurrencesOf(series, span, new Budget(EVENT_DAYS, whole));
      events = occurrences.map((each) => toCalendarEvent(each, marking));
    } catch (error) {
      faults.push(reasonOf(error));
    }
    faults.push(...found.add(events));
    if (pace.due) await pace.rest();
  }
}

async function read({ events }: Group, pace: Pace): Promise<NonNullable<Group["read"]>> {
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
  const event = parseEvent(raw, calendar.zones);
  const uid = event.uid === "" ? contentId(raw) : event.uid;
  const text = calendar.cancels ? { ...event.text, status: "cancelled" as const } : event.text;
  return { ...event, uid, text };
}

/** Whatever a feed makes go wrong costs one event, and never the feed. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be read";
}

/** A name for an event without UID, which is the same at the next reading of the same event. */
function contentId({ lines }: RawEvent): string {
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 24);
}
