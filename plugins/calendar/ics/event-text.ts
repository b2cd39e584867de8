import {
  type CalendarEventPatch,
  inEnglish,
  MantelError,
  type Sentence,
  sentence,
  type WrittenBound,
} from "@mantel/plugin-sdk";
import { type Component, escapeText, parametersOf, valueOf } from "./edit-lines.ts";
import type { Length } from "./event.ts";
import { dayOf, instantOf, type Moment } from "./moment.ts";
import { compact } from "./zone-text.ts";
import { DAY_MS, findZone, toInstant, toWall, UTC, type Zone } from "./zones.ts";

const HOUR_MS = 3_600_000;
const OTHER_KIND = sentence(
  "other_kind_of_end",
  "start and end must both be dates, or both be times",
);
const END_FIRST = sentence("end_first", "end must be after start");

/** The moment of a bound. `zone` is for a time without one. @throws MantelError `invalid` */
export function momentOf(bound: WrittenBound, zone: Zone, field: "start" | "end" | "due"): Moment {
  if ("date" in bound) return { allDay: true, wall: Date.parse(bound.date), zone: UTC };
  const { dateTime, timeZone } = bound;
  const own = timeZone === undefined ? zone : findZone(timeZone);
  const instant = Date.parse(dateTime);
  if (own && !Number.isNaN(instant))
    return { allDay: false, wall: toWall(own, instant), zone: own };
  if (own)
    throw invalid(
      `/${field}`,
      sentence("no_such_time", "{time} does not exist", { time: dateTime }),
    );
  const values = { zone: timeZone ?? "" };
  throw invalid(
    `/${field}/timeZone`,
    sentence("no_such_zone", "{zone} is not an IANA time zone", values),
  );
}

/** A fault in one field of a change. */
export function invalid(pointer: string, told: Sentence): MantelError {
  return new MantelError("invalid", told, { errors: [{ pointer, detail: inEnglish(told) }] });
}

/** The time from a start to an end. @throws MantelError `invalid` if the end is not later, or of another kind */
export function lengthBetween(start: Moment, end: Moment): Length {
  if (start.allDay !== end.allDay) {
    throw invalid("/end", OTHER_KIND);
  }
  const ms = instantOf(end) - instantOf(start);
  if (ms < 0 || (ms === 0 && start.allDay)) throw invalid("/end", END_FIRST);
  return start.allDay
    ? { days: dayOf(end) - dayOf(start), ms: 0 }
    : { days: 0, ms, zone: end.zone };
}

/** The length of an event without an end: a day, or an hour. */
export function usualLength(start: Moment): Length {
  return start.allDay ? { days: 1, ms: 0 } : { days: 0, ms: HOUR_MS };
}

export function endOf(start: Moment, { days, ms, zone = start.zone }: Length): Moment {
  const wall = start.wall + days * DAY_MS;
  if (start.allDay) return { ...start, wall };
  return { allDay: false, wall: toWall(zone, toInstant(start.zone, wall) + ms), zone };
}

/**
 * A property with a moment. It is written as `like`, a property of the same event, if that is in the same zone, because
 * its zone is described in the object.
 */
export function timeLine(
  name: string,
  moment: Moment,
  like?: { readonly line: string; readonly start: Moment },
): string {
  if (moment.allDay) return `${name};VALUE=DATE:${compact(moment.wall).slice(0, 8)}`;
  const isLike = like && !like.start.allDay && like.start.zone.name === moment.zone.name;
  if (isLike && !/z$/i.test(valueOf(like.line))) {
    return `${name}${parametersOf(like.line)}:${compact(moment.wall)}`;
  }
  if (isLike || moment.zone === UTC) return `${name}:${compact(instantOf(moment))}Z`;
  return `${name};TZID=${moment.zone.name}:${compact(moment.wall)}`;
}

/** Writes the changed texts of an event. */
export function setTexts(
  event: Component,
  fields: Omit<CalendarEventPatch, "start" | "end">,
): void {
  const { title, location, description, url, busy, status } = fields;
  if (title !== undefined) event.set("SUMMARY", `SUMMARY:${escapeText(title)}`);
  for (const [name, text] of [
    ["LOCATION", location],
    ["DESCRIPTION", description],
  ] as const) {
    if (text !== undefined) event.set(name, ...(text ? [`${name}:${escapeText(text)}`] : []));
  }
  if (url !== undefined) event.set("URL", ...(url === null ? [] : [`URL:${new URL(url).href}`]));
  if (busy !== undefined) event.set("TRANSP", `TRANSP:${busy ? "OPAQUE" : "TRANSPARENT"}`);
  if (status !== undefined) event.set("STATUS", `STATUS:${status.toUpperCase()}`);
}

/** Marks an event as changed now (RFC 5545, 3.8.7), or when its last change was told if clocks differ. */
export function stamp(event: Component, now: number): void {
  const at = `${compact(now)}Z`;
  const before = valueOf(event.find("LAST-MODIFIED") ?? "");
  const modified = /^\d{8}T\d{6}Z$/.test(before) && before > at ? before : at;
  event.set("DTSTAMP", `DTSTAMP:${at}`).set("LAST-MODIFIED", `LAST-MODIFIED:${modified}`);
  const sequence = Number(valueOf(event.find("SEQUENCE") ?? "SEQUENCE:0")) || 0;
  event.set("SEQUENCE", `SEQUENCE:${sequence + 1}`);
}
