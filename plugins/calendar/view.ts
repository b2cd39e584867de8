import {
  type CalendarBound,
  type CalendarEvent,
  inEnglish,
  MantelError,
  sentence,
} from "@mantel/plugin-sdk";
import { instantOf, type Moment } from "./ics/moment.ts";
import { remindersOf } from "./ics/reminders.ts";
import type { Occurrence } from "./ics/series.ts";
import { UTC } from "./ics/zones.ts";

/** The range of a `Date` (ECMA-262, 21.4.1.1). */
const MAX_INSTANT = 8.64e15;
const BEYOND_YEARS = sentence(
  "beyond_years",
  "an event lasts beyond the years that can be written",
);

/** Properties added to the events of one calendar. */
export interface CalendarMarking {
  readonly calendarId: string;
  /** `#rrggbb`, for events without a colour of their own. */
  readonly color: string;
}

/** An occurrence as the HTTP API and widgets see it. */
export function toCalendarEvent(
  occurrence: Occurrence,
  { calendarId, color }: CalendarMarking,
): CalendarEvent {
  const { uid, origin, start, end, text, problem } = occurrence;
  const recurrenceId = origin ? originOf(origin) : null;
  return {
    id: [calendarId, uid, recurrenceId ?? originOf(start)].join("/"),
    calendarId,
    uid,
    recurrenceId,
    title: text.title,
    start: boundOf(start),
    end: boundOf(end),
    allDay: start.allDay,
    status: text.status,
    busy: text.busy && isAttended(text),
    location: text.location,
    description: text.description,
    url: text.url,
    color: text.color ?? color,
    ...extrasOf(occurrence),
    ...(problem && { problem: inEnglish(problem), reason: problem }),
  };
}

/** The fields that are present only if the event has them. */
function extrasOf({ origin, start, end, text }: Occurrence): Partial<CalendarEvent> {
  const { categories, conference, attendance, triggers, travelMs } = text;
  const reminders = isAttended(text)
    ? remindersOf(triggers, { start, end }, origin !== undefined)
    : [];
  return {
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(conference !== null && { conference }),
    ...(attendance && { attendance }),
    ...(travelMs !== undefined && { travelMs }),
    ...(reminders.length > 0 && { reminders }),
  };
}

const isAttended = ({ status, attendance }: Occurrence["text"]) =>
  status !== "cancelled" && attendance !== "declined";

/** A date as it is, and a time in UTC, as in `2026-11-20` and `2026-11-20T08:00:00Z`. */
function originOf(moment: Moment): string {
  return moment.allDay ? dateOf(moment.wall) : `${secondsOf(instantOf(moment))}Z`;
}

/** A date, or an instant with its zone. @throws MantelError `invalid` beyond the years that can be written */
export function boundOf(moment: Moment): CalendarBound {
  if (moment.allDay) return { date: dateOf(moment.wall) };
  const instant = instantOf(moment);
  const timeZone = moment.zone.name;
  const offset = timeZone === UTC.name ? 0 : moment.zone.offsetAt(instant);
  // RFC 3339 has no seconds in offsets, which some zones had before 1972
  if (offset === 0 || offset % 60_000 !== 0)
    return { dateTime: `${secondsOf(instant)}Z`, timeZone };
  return { dateTime: `${secondsOf(instant + offset)}${offsetText(offset)}`, timeZone };
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / 60_000;
  const two = (number: number) => String(number).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const dateOf = (wall: number) => isoOf(wall).slice(0, 10);
const secondsOf = (instant: number) => isoOf(instant).slice(0, 19);

/** Years beyond 9999 have no form in RFC 3339, and one such event would make the whole answer invalid. */
function isoOf(instant: number): string {
  const text = Math.abs(instant) <= MAX_INSTANT ? new Date(instant).toISOString() : "";
  if (/^\d/.test(text)) return text;
  throw new MantelError("invalid", BEYOND_YEARS);
}
