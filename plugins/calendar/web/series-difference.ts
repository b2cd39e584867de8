import { type CalendarEvent, sentence } from "@mantel/plugin-sdk";
import { NOT_ORDINARY } from "../ics/change-event.ts";
import { firstText } from "../ics/content-line.ts";
import { CalendarObject, type Component, valueOf } from "../ics/edit-lines.ts";
import { endOf } from "../ics/event-text.ts";
import { type ParsedEvent, parseEvent } from "../ics/event.ts";
import { instantOf, type Moment } from "../ics/moment.ts";
import { unsafe } from "../ics/move-series.ts";
import { parseFeed } from "../ics/parse.ts";
import { TimeSlice } from "../ics/time-slice.ts";
import { zoneTable } from "../ics/vtimezone.ts";
import type { Zone } from "../ics/zones.ts";

/** The fields of an event that differ; absent ones are the same. A null takes a field away. */
export interface EventFields {
  readonly title?: string;
  readonly location?: string | null;
  readonly description?: string | null;
  readonly url?: string | null;
  readonly busy?: boolean;
  readonly status?: CalendarEvent["status"];
  readonly times?: { readonly start: Moment; readonly end: Moment };
  /** The value of the RRULE. */
  readonly rule?: string | null;
  /** SEQUENCE, LAST-MODIFIED and CREATED. */
  readonly stamp?: string;
}

/** A change of an event or series as a service carries it out: of the whole, and of single occurrences. */
export interface ObjectChange {
  readonly uid: string;
  readonly start: Moment;
  readonly main: EventFields | undefined;
  /** By the starts that the series gives them. */
  readonly occurrences: readonly { readonly origin: Moment; readonly fields: EventFields }[];
  readonly removed: readonly Moment[];
  /** The EXDATE and RDATE lines of the wanted series. */
  readonly dates: readonly string[];
}

interface ReadEvent {
  readonly text: Component;
  readonly parsed: ParsedEvent;
}

interface ReadObject {
  readonly main: ReadEvent;
  /** By the instant that the series gives them. */
  readonly overrides: ReadonlyMap<number, ReadEvent>;
  readonly removed: ReadonlyMap<number, Moment>;
}

const RESETS = sentence(
  "exceptions_at_service",
  "the series has changed or removed occurrences: change one occurrence, or following ones",
);
const SINGLE_DATES = sentence(
  "single_dates_at_service",
  "the service takes no rules with single dates: change one occurrence",
);

/**
 * The difference between an object as the service has it and the object that is wanted; everything without `before`.
 * @throws MantelError `conflict` for a difference that services cannot carry out
 */
export async function changeOf(
  before: Uint8Array | undefined,
  wanted: Uint8Array,
  floating: Zone,
): Promise<ObjectChange> {
  const next = await readObject(wanted, floating);
  const last = before && (await readObject(before, floating));
  const main = difference(last?.main, next.main);
  const occurrences = [...next.overrides].flatMap(([at, override]) => {
    const origin = override.parsed.replaces?.start;
    const base = last?.overrides.get(at) ?? occurrenceOf(last?.main ?? next.main, at);
    const fields = difference(base, override);
    return origin && fields ? [{ origin, fields }] : [];
  });
  const removed = [...next.removed].filter(([at]) => !last?.removed.has(at));
  if (last) requireKept(last, next, main);
  const gone = last ? droppedOf(last, next, main) : [];
  return {
    uid: next.main.parsed.uid,
    start: next.main.parsed.start,
    main,
    occurrences,
    removed: [...removed.map(([, moment]) => moment), ...gone],
    dates: [...next.main.text.all("EXDATE"), ...next.main.text.all("RDATE")],
  };
}

/** True if nothing is to be changed. */
export function isNothing({ main, occurrences, removed }: ObjectChange): boolean {
  const own = main === undefined || Object.keys(main).every((each) => each === "stamp");
  const isSame = (fields: EventFields) => Object.keys(fields).every((each) => each === "stamp");
  return own && removed.length === 0 && occurrences.every(({ fields }) => isSame(fields));
}

async function readObject(bytes: Uint8Array, floating: Zone): Promise<ReadObject> {
  const object = CalendarObject.read(bytes);
  const [calendar] = await parseFeed(bytes, new TimeSlice());
  const zones = { floating, find: zoneTable(calendar?.zones ?? []) };
  const events = object.of("VEVENT").map((text, at) => ({
    text,
    parsed: parseEvent(calendar?.events[at] ?? { lines: text.properties }, zones),
  }));
  const [main, ...others] = events.filter(({ parsed }) => !parsed.replaces);
  if (!main || others.length > 0) throw unsafe(NOT_ORDINARY);
  const overrides = events.flatMap((event) => {
    const start = event.parsed.replaces?.start;
    return start ? [[instantOf(start), event] as const] : [];
  });
  return {
    main,
    overrides: new Map(overrides),
    removed: new Map(main.parsed.removed.map((each) => [instantOf(each), each])),
  };
}

/** Moving a series would leave its exceptions without their occurrences. */
function requireKept(last: ReadObject, next: ReadObject, main: EventFields | undefined): void {
  const isRestored = [...last.removed.keys()].some((at) => !next.removed.has(at));
  const hasExceptions = last.overrides.size + last.removed.size > 0;
  if (isRestored || (main?.times && hasExceptions)) throw unsafe(RESETS);
  const singles = (event: ReadEvent) => event.text.all("RDATE").join("\n");
  if (singles(last.main) !== singles(next.main)) throw unsafe(SINGLE_DATES);
}

/** Changed occurrences that the object no longer has, and that are not removed by an EXDATE: of a shorter series. */
function droppedOf(
  last: ReadObject,
  next: ReadObject,
  main: EventFields | undefined,
): readonly Moment[] {
  return [...last.overrides].flatMap(([at, { parsed }]) => {
    if (next.overrides.has(at) || next.removed.has(at) || !parsed.replaces) return [];
    if (main?.rule === undefined) throw unsafe(RESETS);
    return [parsed.replaces.start];
  });
}

/** An occurrence that is as its series has it. */
function occurrenceOf({ text, parsed }: ReadEvent, at: number): ReadEvent {
  const { start } = parsed;
  const wall = start.allDay ? at : at + start.zone.offsetAt(at);
  return { text, parsed: { ...parsed, start: { ...start, wall } } };
}

const STAMPS = ["SEQUENCE", "LAST-MODIFIED", "CREATED"] as const;

function difference(from: ReadEvent | undefined, to: ReadEvent): EventFields | undefined {
  const isOverride = to.parsed.replaces !== undefined;
  const fields = {
    ...textDifference(from, to),
    ...stateDifference(from, to),
    ...(isOverride ? {} : ruleDifference(from, to)),
  };
  if (Object.keys(fields).length === 0) return undefined;
  return { ...fields, stamp: STAMPS.flatMap((name) => to.text.find(name) ?? []).join("\n") };
}

function textDifference(from: ReadEvent | undefined, to: ReadEvent): EventFields {
  const title = textIn(to, "SUMMARY");
  const texts = TEXTS.flatMap(([name, field]) => {
    const value = textIn(to, name);
    return (from && textIn(from, name)) === value ? [] : [[field, value ?? null]];
  });
  const isSame = from && textIn(from, "SUMMARY") === title;
  return { ...(isSame ? {} : { title: title ?? "" }), ...Object.fromEntries(texts) } as EventFields;
}

function stateDifference(from: ReadEvent | undefined, to: ReadEvent): EventFields {
  const { busy, status } = to.parsed.text;
  const last = from?.parsed.text;
  return {
    ...(last?.busy === busy ? {} : { busy }),
    ...(last?.status === status ? {} : { status }),
    ...(from && timesKey(from) === timesKey(to) ? {} : { times: timesOf(to) }),
  };
}

function ruleDifference(from: ReadEvent | undefined, to: ReadEvent): EventFields {
  const rule = ruleIn(to);
  return (from ? ruleIn(from) : null) === rule ? {} : { rule };
}

const TEXTS = [
  ["LOCATION", "location"],
  ["DESCRIPTION", "description"],
  ["URL", "url"],
] as const;

function textIn({ text }: ReadEvent, name: string): string | undefined {
  return firstText(text.properties, name);
}

function ruleIn({ text }: ReadEvent): string | null {
  const [rule, ...others] = text.all("RRULE");
  if (others.length > 0 || text.all("EXRULE").length > 0) throw unsafe(SINGLE_DATES);
  return rule === undefined ? null : valueOf(rule);
}

function timesOf({ parsed }: ReadEvent) {
  return { start: parsed.start, end: endOf(parsed.start, parsed.length) };
}

function timesKey(event: ReadEvent): string {
  const { start, end } = timesOf(event);
  const key = (moment: Moment) =>
    [moment.allDay, moment.wall, moment.allDay ? "" : moment.zone.name].join();
  return `${key(start)} ${key(end)}`;
}
