import { MantelError, sentence } from "@mantel/plugin-sdk";
import { CONFERENCE_PROPERTIES } from "./conference.ts";
import { decode, isProperty, nameOf } from "./content-line.ts";
import { STYLED_PROPERTIES } from "./html-text.ts";
import type { TimeSlice } from "./time-slice.ts";
import { TRAVEL } from "./travel.ts";

/** The relevant lines of one VEVENT, unfolded but otherwise unchanged. */
export interface RawEvent {
  readonly lines: readonly string[];
  /** Its ATTENDEE lines. They are apart, because they are many and seldom needed. */
  readonly attendees?: readonly string[];
  /** The TRIGGER lines of its alarms. */
  readonly triggers?: readonly string[];
}

/** One VTIMEZONE: its own lines, and those of each STANDARD and DAYLIGHT part. */
export interface RawZone {
  readonly lines: readonly string[];
  readonly observances: readonly (readonly string[])[];
}

/** One VCALENDAR, split into its parts without parsing values. */
export interface RawCalendar {
  readonly lines: readonly string[];
  readonly events: readonly RawEvent[];
  readonly zones: readonly RawZone[];
  /** The numbers of components that are not shown, such as tasks. */
  readonly others: { readonly tasks: number; readonly notes: number };
}

const EVENT_PROPERTIES = new Set([
  "UID",
  "SEQUENCE",
  "DTSTART",
  "DTEND",
  "DURATION",
  "RRULE",
  "RDATE",
  "EXDATE",
  "EXRULE",
  "RECURRENCE-ID",
  "STATUS",
  "TRANSP",
  "SUMMARY",
  "LOCATION",
  "DESCRIPTION",
  "URL",
  "COLOR",
  "CATEGORIES",
  TRAVEL,
  ...CONFERENCE_PROPERTIES,
  ...STYLED_PROPERTIES,
]);
/** Maximum events of one feed: far more than usual, and few enough to keep in memory. */
export const MAX_EVENTS = 50_000;

/** Maximum attendees of an event; later ones are not looked at. */
const MAX_ATTENDEES = 1_000;
/** Maximum reminders of an event. */
const MAX_ALARMS = 10;

/** Maximum nesting of components; a calendar has three levels. */
const MAX_DEPTH = 20;

const BEGINNING = /^BEGIN:VCALENDAR\s*$/im;

/**
 * Splits an iCalendar stream (RFC 5545) into calendars and their parts without parsing values, so
 * that a large feed costs little until its events are needed.
 * @throws MantelError `invalid` for content that is not a calendar, or is incomplete
 */
export async function parseFeed(bytes: Uint8Array, slice: TimeSlice): Promise<RawCalendar[]> {
  const text = decode(bytes);
  if (!BEGINNING.test(text)) throw noCalendar(text);
  const splitter = new Splitter();
  for (const line of text.split("\n")) {
    splitter.take(line);
    if (slice.isOver) await slice.yield();
  }
  return splitter.finish();
}

function noCalendar(text: string): MantelError {
  return new MantelError("invalid", text.trimStart().startsWith("<") ? WEB_PAGE : NO_CALENDAR);
}

const WEB_PAGE = sentence(
  "web_page",
  "this is a web page and not a calendar: use the address that ends in .ics",
);
const NO_CALENDAR = sentence(
  "not_a_calendar",
  "this is not a calendar: BEGIN:VCALENDAR is missing",
);

function endsInTheMiddle(open: string): MantelError {
  const told = sentence(
    "calendar_cut",
    "the calendar ends in the middle: END:{component} is missing",
    { component: open.slice(0, 40) },
  );
  return new MantelError("invalid", told);
}

export function tooManyEvents(): MantelError {
  const values = { most: MAX_EVENTS };
  return new MantelError(
    "invalid",
    sentence("too_many_events", "the calendar has over {most} events", values),
  );
}

type Lines = string[];

interface OpenEvent {
  readonly lines: Lines;
  attendees?: Lines;
  triggers?: Lines;
}

/** An alarm of an event; `isSilent` if it must not remind anybody now. */
interface OpenAlarm {
  trigger?: string;
  isSilent: boolean;
}

interface OpenCalendar {
  readonly lines: Lines;
  readonly events: OpenEvent[];
  readonly zones: { readonly lines: Lines; readonly observances: Lines[] }[];
  readonly others: { tasks: number; notes: number };
}

class Splitter {
  readonly #calendars: OpenCalendar[] = [];
  /** The open components, outermost first. */
  #open: string[] = [];
  #events = 0;
  /** The alarm that is open in an event. */
  #alarm: OpenAlarm | undefined;

  take(line: string): void {
    if (line === "") return;
    const name = nameOf(line);
    if (name === "BEGIN") this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === "END") this.#end(line.slice(4).trim().toUpperCase());
    else this.#keep(name, line);
  }

  finish(): RawCalendar[] {
    const [open] = this.#open;
    if (open === undefined) return this.#calendars;
    throw endsInTheMiddle(open);
  }

  #begin(component: string): void {
    if (component === "VCALENDAR") {
      this.#calendars.push({ lines: [], events: [], zones: [], others: { tasks: 0, notes: 0 } });
      this.#open = [];
    }
    const calendar = this.#calendars.at(-1);
    if (calendar) this.#beginPart(component, calendar);
    const isAlarm = component === "VALARM" && this.#open.at(-1) === "VEVENT";
    this.#alarm = isAlarm ? { isSilent: false } : undefined;
    this.#open.push(component);
    if (this.#open.length > MAX_DEPTH) {
      const values = { most: MAX_DEPTH };
      throw new MantelError(
        "invalid",
        sentence("nested_too_deep", "the calendar is nested more than {most} deep", values),
      );
    }
  }

  #beginPart(component: string, { events, zones, others }: OpenCalendar): void {
    if (component === "VEVENT") {
      if (++this.#events > MAX_EVENTS) throw tooManyEvents();
      events.push({ lines: [] });
      this.#open = ["VCALENDAR"]; // an unclosed event does not include the next one
    } else if (component === "VTIMEZONE") {
      zones.push({ lines: [], observances: [] });
    } else if (component === "VTODO") {
      others.tasks++;
    } else if (component === "VJOURNAL") {
      others.notes++;
    } else if (component === "STANDARD" || component === "DAYLIGHT") {
      zones.at(-1)?.observances.push([]);
    }
  }

  #end(component: string): void {
    const at = this.#open.lastIndexOf(component);
    if (at >= 0) this.#open.length = at;
    if (this.#alarm) keepTrigger(this.#calendars.at(-1)?.events.at(-1), this.#alarm);
    this.#alarm = undefined;
  }

  /** Published busy times (VFREEBUSY) are shown as events. */
  #keepBusy(calendar: OpenCalendar | undefined, line: string): void {
    const found = busyEvents(line);
    this.#events += found.length;
    if (this.#events > MAX_EVENTS) throw tooManyEvents();
    calendar?.events.push(...found);
  }

  #keep(name: string, line: string): void {
    const calendar = this.#calendars.at(-1);
    const component = this.#open.at(-1);
    if (component === "VALARM") return this.#alarm && readAlarm(this.#alarm, name, line);
    if (component === "VFREEBUSY" && name === "FREEBUSY") return this.#keepBusy(calendar, line);
    if (component === "VEVENT" && name === "ATTENDEE") return keepAttendee(calendar, line);
    const isNeeded = component === "VEVENT" ? EVENT_PROPERTIES.has(name) : isProperty(line);
    if (!calendar || !isNeeded) return;
    linesOf(component, calendar)?.push(line);
  }
}

/** A period in UTC, with an end or a duration (RFC 5545, 3.8.2.6). */
const PERIOD = /^(\d{8}T\d{6}Z)\/(?:(\d{8}T\d{6}Z)|(P[\dTWDHMS]+))$/i;

/** The periods of a line of published busy times as events; those that are free, or cannot be read, are left out. */
function busyEvents(line: string): OpenEvent[] {
  const [head = "", values = ""] = line.split(/:(.*)/s);
  if (/;FBTYPE="?FREE"?(;|$)/i.test(head)) return [];
  const isTentative = /;FBTYPE="?BUSY-TENTATIVE"?(;|$)/i.test(head);
  return values.split(",").flatMap((text) => {
    const [whole, start, end, duration] = PERIOD.exec(text.trim()) ?? [];
    if (whole === undefined) return [];
    const lines = [`UID:busy-${whole}`, `DTSTART:${start}`, "SUMMARY:Busy"];
    lines.push(end === undefined ? `DURATION:${duration}` : `DTEND:${end}`);
    if (isTentative) lines.push("STATUS:TENTATIVE");
    return [{ lines }];
  });
}

function keepAttendee(calendar: OpenCalendar | undefined, line: string): void {
  const event = calendar?.events.at(-1);
  if (!event) return;
  if (!event.attendees) event.attendees = [line];
  else if (event.attendees.length < MAX_ATTENDEES) event.attendees.push(line);
}

/**
 * Apple writes ACTION:NONE in place of an alarm that was removed. One with PROXIMITY (RFC 9074, 8.1) is for a place.
 */
function readAlarm(alarm: OpenAlarm, name: string, line: string): void {
  if (name === "TRIGGER") alarm.trigger ??= line;
  if (name === "PROXIMITY" || /^ACTION:NONE\s*$/i.test(line)) alarm.isSilent = true;
}

function keepTrigger(event: OpenEvent | undefined, { trigger, isSilent }: OpenAlarm): void {
  if (!event || trigger === undefined || isSilent) return;
  if (!event.triggers) event.triggers = [trigger];
  else if (event.triggers.length < MAX_ALARMS) event.triggers.push(trigger);
}

/** The lines that store the content of the innermost open component. */
function linesOf(component: string | undefined, calendar: OpenCalendar): Lines | undefined {
  if (component === "VCALENDAR") return calendar.lines;
  if (component === "VEVENT") return calendar.events.at(-1)?.lines;
  const zone = calendar.zones.at(-1);
  if (component === "VTIMEZONE") return zone?.lines;
  const isObservance = component === "STANDARD" || component === "DAYLIGHT";
  return isObservance ? zone?.observances.at(-1) : undefined;
}
