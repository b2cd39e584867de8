import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk/calendar";
import type {
  CalendarEventPatch,
  NewCalendarEvent,
  WrittenBound,
} from "@mantel/plugin-sdk/services";
import { instantOf, wallClock } from "@mantel/plugin-sdk/time";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The hour at which a new event begins. */
const USUAL_HOUR = "09:00";

/** The fields of an event as a form has them. */
export interface EventFields {
  readonly title: string;
  readonly allDay: boolean;
  /** A date such as `2026-11-20`, or a local time of the zone such as `2026-11-20T09:00`. */
  readonly start: string;
  /** As `start`. The last day of an event of whole days, and the end of others. */
  readonly end: string;
  readonly timeZone: string;
  readonly location: string;
  /** The value of an RRULE, or empty. */
  readonly rrule: string;
}

/** The fields of an event that is changed. */
export function fieldsOf(event: CalendarEvent, homeZone: string): EventFields {
  const { start, end, title, allDay } = event;
  const timeZone = "timeZone" in start && start.timeZone !== "UTC" ? start.timeZone : homeZone;
  return {
    title,
    allDay,
    start: textOf(start, timeZone),
    end: "date" in end ? addDays(end.date, -1) : textOf(end, timeZone),
    timeZone,
    location: event.location ?? "",
    rrule: "",
  };
}

/** The fields of a new event on a day. */
export function newFields(date: string, timeZone: string): EventFields {
  const start = `${date}T${USUAL_HOUR}`;
  const end = localText(Date.parse(`${start}:00Z`) + HOUR_MS);
  return { title: "", allDay: false, start, end, timeZone, location: "", rrule: "" };
}

/** The fields with whole days, or with times. */
export function withAllDay(fields: EventFields, allDay: boolean): EventFields {
  const start = fields.start.slice(0, 10);
  const end = fields.end.slice(0, 10);
  if (allDay) return { ...fields, allDay, start, end };
  const timed = newFields(start, fields.timeZone);
  return { ...fields, allDay, start: timed.start, end: end === start ? timed.end : `${end}T10:00` };
}

/** The fields with another start. The end moves along, so that the length stays. */
export function withStart(fields: EventFields, start: string): EventFields {
  const moved = wallOf(start) - wallOf(fields.start);
  if (Number.isNaN(moved)) return { ...fields, start };
  const text = localText(wallOf(fields.end) + moved);
  return { ...fields, start, end: fields.allDay ? text.slice(0, 10) : text };
}

/** The event to create. */
export function creationOf(fields: EventFields): NewCalendarEvent {
  return {
    title: fields.title,
    start: startOf(fields),
    end: endOf(fields),
    ...(fields.location === "" ? {} : { location: fields.location }),
    ...(fields.rrule === "" ? {} : { rrule: fields.rrule }),
  };
}

/** The fields to change: only those that are different, so that everything else stays as it is at the server. */
export function changesOf(before: EventFields, after: EventFields): CalendarEventPatch {
  const patch: { -readonly [K in keyof CalendarEventPatch]: CalendarEventPatch[K] } = {};
  if (after.title !== before.title) patch.title = after.title;
  if (after.location !== before.location) {
    patch.location = after.location === "" ? null : after.location;
  }
  const hasMoved = (["start", "end", "allDay", "timeZone"] as const).some(
    (name) => after[name] !== before[name],
  );
  if (hasMoved) {
    patch.start = startOf(after);
    patch.end = endOf(after);
  }
  return patch;
}

/** True if the times can be read, and the end is not before the start. */
export function hasTimes({ start, end }: EventFields): boolean {
  return wallOf(end) >= wallOf(start);
}

const startOf = ({ start, allDay, timeZone }: EventFields) => boundOf(start, allDay, timeZone);
const endOf = ({ end, allDay, timeZone }: EventFields) =>
  boundOf(allDay ? addDays(end, 1) : end, allDay, timeZone);

function boundOf(text: string, allDay: boolean, timeZone: string): WrittenBound {
  if (allDay) return { date: text };
  const dateTime = new Date(instantOf(wallOf(text), timeZone)).toISOString();
  return { dateTime: `${dateTime.slice(0, 19)}Z`, timeZone };
}

function textOf(bound: CalendarBound, timeZone: string): string {
  if ("date" in bound) return bound.date;
  return localText(wallClock(Date.parse(bound.dateTime), timeZone));
}

const localText = (wall: number) => new Date(wall).toISOString().slice(0, 16);
const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);

/** The UTC instant with the same reading; NaN for a text that is not a date or local time. */
function wallOf(text: string): number {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return Number.NaN;
  return Date.parse(text.length === 10 ? text : `${text.slice(0, 16)}:00Z`);
}
