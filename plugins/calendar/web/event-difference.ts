import type { CalendarEvent } from "@mantel/plugin-sdk";
import { NOT_ORDINARY } from "../ics/change-event.ts";
import { firstText } from "../ics/content-line.ts";
import { CalendarObject, valueOf } from "../ics/edit-lines.ts";
import { endOf } from "../ics/event-text.ts";
import { type ParsedEvent, parseEvent } from "../ics/event.ts";
import type { Moment } from "../ics/moment.ts";
import { unsafe } from "../ics/move-series.ts";
import { parseFeed } from "../ics/parse.ts";
import { TimeSlice } from "../ics/time-slice.ts";
import { zoneTable } from "../ics/vtimezone.ts";
import type { Zone } from "../ics/zones.ts";

/** The fields of an event that differ; absent ones are the same, and null takes one away. */
export interface EventDifference {
  title?: string;
  location?: string | null;
  description?: string | null;
  url?: string | null;
  busy?: boolean;
  status?: CalendarEvent["status"];
  times?: { readonly start: Moment; readonly end: Moment };
  /** The value of the RRULE. */
  rule?: string | null;
}

/** An event as it is wanted, and how it differs from the event before. */
export interface WantedEvent {
  readonly start: Moment;
  readonly uid: string;
  readonly difference: EventDifference;
}

interface ReadEvent {
  readonly lines: readonly string[];
  readonly parsed: ParsedEvent;
}

/**
 * Compares two objects of one event each; without `before` everything differs that the wanted one has.
 * @throws MantelError `conflict` for an object of several events, or with single dates
 */
export async function compareEvents(
  before: Uint8Array | undefined,
  wanted: Uint8Array,
  floating: Zone,
): Promise<WantedEvent> {
  const last = before && (await readEvent(before, floating));
  const next = await readEvent(wanted, floating);
  return { start: next.parsed.start, uid: next.parsed.uid, difference: differenceOf(last, next) };
}

function differenceOf(last: ReadEvent | undefined, next: ReadEvent): EventDifference {
  const { busy, status } = next.parsed.text;
  const difference: EventDifference = textDifference(last, next);
  if (last?.parsed.text.busy !== busy) difference.busy = busy;
  if (last?.parsed.text.status !== status) difference.status = status;
  if (!last || timesText(last) !== timesText(next)) difference.times = timesOf(next);
  const rule = ruleIn(next);
  if ((last ? ruleIn(last) : null) !== rule) difference.rule = rule;
  return difference;
}

function textDifference(last: ReadEvent | undefined, next: ReadEvent): EventDifference {
  const text = (name: string) => firstText(next.lines, name);
  const isOther = (name: string) => (last && firstText(last.lines, name)) !== text(name);
  return {
    ...(isOther("SUMMARY") ? { title: text("SUMMARY") ?? "" } : {}),
    ...(isOther("LOCATION") ? { location: text("LOCATION") ?? null } : {}),
    ...(isOther("DESCRIPTION") ? { description: text("DESCRIPTION") ?? null } : {}),
    ...(isOther("URL") ? { url: text("URL") ?? null } : {}),
  };
}

async function readEvent(bytes: Uint8Array, floating: Zone): Promise<ReadEvent> {
  const [calendar] = await parseFeed(bytes, new TimeSlice());
  const [text, ...others] = CalendarObject.read(bytes).of("VEVENT");
  const [raw] = calendar?.events ?? [];
  if (!calendar || !text || !raw || others.length > 0) throw unsafe(NOT_ORDINARY);
  const hasDates = ["RDATE", "EXDATE", "EXRULE"].some((name) => text.all(name).length > 0);
  if (hasDates || text.all("RRULE").length > 1) throw unsafe(NOT_ORDINARY);
  const parsed = parseEvent(raw, { floating, find: zoneTable(calendar.zones) });
  return { lines: text.properties, parsed };
}

function ruleIn({ lines }: ReadEvent): string | null {
  const line = lines.find((each) => /^RRULE[:;]/i.test(each));
  return line === undefined ? null : valueOf(line);
}

function timesOf({ parsed: { start, length } }: ReadEvent) {
  return { start, end: endOf(start, length) };
}

function timesText(event: ReadEvent): string {
  const { start, end } = timesOf(event);
  const text = ({ allDay, wall, zone }: Moment) => [allDay, wall, allDay ? "" : zone.name].join();
  return `${text(start)} ${text(end)}`;
}
