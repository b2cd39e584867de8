import { MantelError, sentence, type Sentence } from "@mantel/plugin-sdk";
import ICAL from "ical.js";
import { parseColor } from "../color.ts";
import type { Attendance } from "./attendance.ts";
import { CONFERENCE_PROPERTIES, conferenceIn, webAddress } from "./conference.ts";
import { allTexts, firstText, nameOf, parseProperty, type Property } from "./content-line.ts";
import { htmlText, isHtml, STYLED_PROPERTIES, styledIn } from "./html-text.ts";
import { dayOf, instantOf, type Moment, parseMoment } from "./moment.ts";
import type { RawEvent } from "./parse.ts";
import { parseRule, type Rule } from "./recurrence.ts";
import { parseTriggers, type Trigger } from "./reminders.ts";
import { repairRule, repairTimes } from "./repair.ts";
import { TRAVEL, travelIn } from "./travel.ts";
import { DAY_MS, type Zone } from "./zones.ts";

/** A parsed VEVENT: a single event, a series, or one changed occurrence of a series. */
export interface ParsedEvent {
  readonly uid: string;
  readonly sequence: number;
  readonly start: Moment;
  readonly length: Length;
  readonly rules: readonly Rule[];
  /** EXRULE: excluded starts (RFC 2445, 4.8.5.2; removed in RFC 5545). */
  readonly exceptions: readonly Rule[];
  /** RDATE: additional starts, some with their own length. */
  readonly added: readonly { readonly start: Moment; readonly length?: Length }[];
  /** EXDATE: excluded starts. */
  readonly removed: readonly Moment[];
  /** The occurrence of its series that this replaces, alone or with all later ones. */
  readonly replaces: ReplacedOccurrence | undefined;
  readonly text: EventText;
  /** The reason why its repetitions cannot be followed. */
  readonly problem?: Sentence;
}

export interface ReplacedOccurrence {
  readonly start: Moment;
  /** True if it has no zone: it uses the local time of the series. */
  readonly floating: boolean;
  readonly following: boolean;
}

/** From start to end: calendar days, then elapsed time. */
export interface Length {
  readonly days: number;
  readonly ms: number;
  /** The zone in which the end is shown; by default that of the start. */
  readonly zone?: Zone;
}

export interface EventText {
  readonly title: string;
  readonly status: "confirmed" | "tentative" | "cancelled";
  readonly busy: boolean;
  readonly location: string | null;
  readonly description: string | null;
  readonly url: string | null;
  readonly color: string | null;
  readonly categories: readonly string[];
  /** The web address of its meeting. */
  readonly conference: string | null;
  /** The time to travel to it, in milliseconds. */
  readonly travelMs?: number | undefined;
  /** The times of its alarms. */
  readonly triggers: readonly Trigger[];
  /** Absent if it is not known. */
  readonly attendance?: Attendance | undefined;
}

/** The zones for resolving the times of a feed. */
export interface FeedZones {
  /** The zone for times without a zone. */
  readonly floating: Zone;
  find(tzid: string): Zone | undefined;
}

/** Maximum characters of an event, and of its additional and excluded starts: ten years of days. */
const MAX_SIZE = 500_000;
const MAX_LIST_SIZE = 70_000;
const MAX_RULES = 20;
const NO_START = sentence("no_start", "an event has no DTSTART");

/**
 * @throws MantelError `invalid` if a property that determines the time of the event cannot be read
 */
export function parseEvent(raw: RawEvent, zones: FeedZones): ParsedEvent {
  checkSize(raw.lines);
  const properties = new Properties(raw, zones);
  const start = properties.moment("DTSTART", zones.floating);
  if (!start) throw new MantelError("invalid", NO_START);
  const replaces = properties.replaced(start.zone);
  return {
    uid: properties.text("UID") ?? "",
    sequence: Number(properties.text("SEQUENCE") ?? 0) || 0,
    start,
    length: lengthOf(start, properties),
    rules: replaces ? [] : properties.rules("RRULE", start),
    exceptions: properties.rules("EXRULE", start),
    added: properties.lists("RDATE").flatMap((each) => properties.added(each, start)),
    removed: properties.lists("EXDATE").flatMap((each) => properties.moments(each, start.zone)),
    replaces,
    text: { ...textOf(properties), triggers: parseTriggers(raw.triggers ?? []) },
  };
}

/**
 * The event without its repetitions, because they cannot be followed.
 * @throws MantelError as `parseEvent`
 */
export function parseFirstOccurrence(
  raw: RawEvent,
  zones: FeedZones,
  problem: Sentence,
): ParsedEvent {
  const lines = raw.lines.filter((line) => !REPETITIONS.has(nameOf(line)));
  return { ...parseEvent({ ...raw, lines }, zones), problem };
}

const REPETITIONS = new Set(["RRULE", "RDATE", "EXRULE", "EXDATE"]);

/** An event is parsed synchronously, so its size is limited to avoid blocking the process. */
function checkSize(lines: readonly string[]): void {
  const named = (...names: string[]) => lines.filter((line) => names.includes(nameOf(line)));
  const sizeOf = (some: readonly string[]) => some.reduce((sum, { length }) => sum + length, 0);
  const size = sizeOf(lines);
  if (lines.length <= MAX_RULES && size <= MAX_LIST_SIZE) return; // so no part is too large
  const rules = named("RRULE", "EXRULE").length;
  const listed = sizeOf(named("RDATE", "EXDATE"));
  if (rules > MAX_RULES) {
    throw new MantelError(
      "invalid",
      sentence("too_many_rules", "an event has {count} rules", { count: rules }),
    );
  }
  if (listed > MAX_LIST_SIZE) {
    const values = { count: listed };
    throw new MantelError(
      "invalid",
      sentence("too_many_dates", "an event has {count} characters of single dates", values),
    );
  }
  if (size > MAX_SIZE) {
    throw new MantelError(
      "invalid",
      sentence("event_too_large", "an event has {count} characters", { count: size }),
    );
  }
}

/** Without an end, a date lasts the whole day and a time is an instant (RFC 5545, 3.6.1). */
function lengthOf(start: Moment, properties: Properties): Length {
  const shortest = { days: start.allDay ? 1 : 0, ms: 0 };
  const end = properties.moment("DTEND", start.zone);
  if (end) return lengthTo(start, end) ?? shortest;
  const duration = properties.text("DURATION")?.toUpperCase();
  return duration === undefined ? shortest : (parseDuration(duration, start) ?? shortest);
}

/** Between dates in days, between times in elapsed time (RFC 5545, 3.8.5.3). */
function lengthTo(start: Moment, end: Moment): Length | undefined {
  if (start.allDay) {
    const days = dayOf(end) - dayOf(start);
    return days > 0 ? { days, ms: 0 } : undefined;
  }
  const ms = instantOf({ ...end, allDay: false }) - instantOf(start);
  return ms > 0 ? { days: 0, ms, zone: end.zone } : undefined;
}

function parseDuration(text: string, start: Moment): Length | undefined {
  if (!/^\+?P(\d+W|(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?)$/.test(text)) {
    const values = { text: text.slice(0, 40) };
    throw new MantelError(
      "invalid",
      sentence("unreadable_duration", "DURATION:{text} cannot be read", values),
    );
  }
  const { weeks, days, hours, minutes, seconds } = ICAL.Duration.fromString(text);
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  const wholeDays = weeks * 7 + days;
  if (!start.allDay) return { days: wholeDays, ms };
  const rounded = wholeDays + Math.ceil(ms / DAY_MS);
  return rounded > 0 ? { days: rounded, ms: 0 } : undefined;
}

const STATUSES = { TENTATIVE: "tentative", CANCELLED: "cancelled" } as const;
const TITLE_LENGTH = 500;
const TEXT_LENGTH = 5_000;
const CATEGORY_LENGTH = 100;
const MAX_CATEGORIES = 20;

/** The texts that events and tasks have. */
export function textIn(
  properties: Properties,
  description = descriptionIn(properties),
): Pick<EventText, "title" | "description"> {
  return {
    title: properties.text("SUMMARY")?.slice(0, TITLE_LENGTH) ?? "",
    description: description?.slice(0, TEXT_LENGTH) || null,
  };
}

/** The whole description as plain text. Google writes HTML into DESCRIPTION, and Outlook beside it. */
function descriptionIn(properties: Properties): string | undefined {
  const plain = properties.text("DESCRIPTION");
  if (plain !== undefined) return isHtml(plain) ? htmlText(plain) : plain;
  const lines = properties.lines(...STYLED_PROPERTIES);
  const styled = lines.length === 0 ? undefined : styledIn(lines);
  return styled === undefined ? undefined : htmlText(styled);
}

function textOf(properties: Properties): Omit<EventText, "triggers"> {
  const status = properties.text("STATUS")?.toUpperCase();
  const description = descriptionIn(properties);
  const location = properties.text("LOCATION");
  const url = webAddress(properties.text("URL"));
  const texts = [url, location, description].map((each) => each ?? "");
  return {
    ...textIn(properties, description),
    status: status === "TENTATIVE" || status === "CANCELLED" ? STATUSES[status] : "confirmed",
    busy: properties.text("TRANSP")?.toUpperCase() !== "TRANSPARENT",
    location: location?.slice(0, TITLE_LENGTH) || null,
    url,
    color: parseColor(properties.text("COLOR")),
    categories: categoriesIn(properties),
    conference: conferenceIn(properties.lines(...CONFERENCE_PROPERTIES), texts),
    travelMs: travelIn(properties.lines(TRAVEL)),
  };
}

/** CATEGORIES may come several times, each with several values (RFC 5545, 3.8.1.2). */
function categoriesIn(properties: Properties): string[] {
  if (properties.lines("CATEGORIES").length === 0) return [];
  const all = properties.texts("CATEGORIES").map((text) => text.slice(0, CATEGORY_LENGTH));
  return [...new Set(all)].slice(0, MAX_CATEGORIES);
}

/**
 * A property with times. Its letters may be of either case (RFC 5545, 2.1), but ical.js reads `z`
 * as no zone, and reads a time with an offset, which 3.3.5 forbids, as one without.
 */
function parseTimes(given: string): Property {
  if (PLAIN_TIME.test(given)) return parseProperty(given);
  const line = repairTimes(given);
  if (/\d{8}T\d{6}[+-]/i.test(line)) {
    const values = { line: line.slice(0, 60) };
    throw new MantelError(
      "invalid",
      sentence("offset_for_zone", "{line} has an offset in place of a zone", values),
    );
  }
  return parseProperty(line.replace(TIME_OR_DURATION, (text) => text.toUpperCase()));
}

/** One date or time as most software writes it, which needs no repair. */
const PLAIN_TIME = /^[A-Z-]+(?:;TZID=[\w/+-]+|;VALUE=DATE)?:\d{8}(?:T\d{6}Z?)?$/;
const TIME_OR_DURATION = /(?<=[:,/])(?:\d{8}t\d{6}z?|[+-]?p[\dtwdhms]+)(?=[,/]|$)/gi;

const NO_LINES: readonly string[] = [];

/** The properties of one event or task, parsed on demand. */
export class Properties {
  /** The lines by their names, because an event is asked for twenty names. */
  readonly #lines = new Map<string, string[]>();
  readonly #zones: FeedZones;

  constructor(raw: RawEvent, zones: FeedZones) {
    this.#zones = zones;
    for (const line of raw.lines) {
      const name = nameOf(line);
      const same = this.#lines.get(name);
      if (same) same.push(line);
      else this.#lines.set(name, [line]);
    }
  }

  all(name: string): Property[] {
    return this.lines(name).map(parseTimes);
  }

  /** Like `all`, without empty lists, which some software writes. */
  lists(name: string): Property[] {
    const lines = this.lines(name).filter((line) => !line.endsWith(":"));
    return lines.map(parseTimes);
  }

  text(name: string): string | undefined {
    const lines = this.#lines.get(name);
    return lines && firstText(lines, name);
  }

  /** The lines with these names. */
  lines(...names: readonly string[]): readonly string[] {
    const [name = "", ...others] = names;
    const found = this.#lines.get(name) ?? NO_LINES;
    return others.length === 0 ? found : [...found, ...this.lines(...others)];
  }

  /** All texts of a property that may come several times. */
  texts(name: string): string[] {
    return allTexts(this.lines(name), name);
  }

  /** `fallback` is the zone of a time without one. */
  moment(name: string, fallback: Zone): Moment | undefined {
    const [property] = this.all(name);
    return property && this.moments(property, fallback)[0];
  }

  replaced(fallback: Zone): ReplacedOccurrence | undefined {
    const [property] = this.all("RECURRENCE-ID");
    const [start] = property ? this.moments(property, fallback) : [];
    if (!property || !start) return undefined;
    const { tzid, range = "" } = property.parameters;
    const floating = tzid === undefined && !String(property.values[0]).endsWith("Z");
    return { start, floating, following: /^thisandfuture$/i.test(range) };
  }

  moments(property: Property, fallback: Zone): Moment[] {
    const zone = this.#zone(property, fallback);
    return property.values.map((value) => parseMoment(String(value), zone));
  }

  /** RDATE contains dates, times or periods. A period is a start with an end or a duration. */
  added(property: Property, first: Moment): ParsedEvent["added"] {
    const zone = this.#zone(property, first.zone);
    return property.values.map((value) => {
      if (typeof value === "string") return { start: inFormOf(parseMoment(value, zone), first) };
      const [from, to] = value;
      const start = parseMoment(from ?? "", zone);
      const length = to?.startsWith("P")
        ? parseDuration(to, start)
        : lengthTo(start, parseMoment(to ?? "", zone));
      return length ? { start, length } : { start };
    });
  }

  rules(name: "RRULE" | "EXRULE", start: Moment): Rule[] {
    return this.lines(name).map((line) =>
      parseRule(repairRule(line.slice(line.indexOf(":") + 1)), start),
    );
  }

  #zone({ parameters }: Property, fallback: Zone): Zone {
    const tzid = parameters["tzid"];
    return tzid === undefined ? fallback : (this.#zones.find(tzid) ?? this.#zones.floating);
  }
}

/**
 * A start in the form of `first`: a date in a series of times gets its time, and a time in a series
 * of dates becomes its day.
 */
export function inFormOf(start: Moment, first: Moment): Moment {
  if (start.allDay === first.allDay) return start;
  const midnight = dayOf(start) * DAY_MS;
  return { ...first, wall: midnight + (first.wall - dayOf(first) * DAY_MS) };
}
