import { sentence, type Static, Type } from "@mantel/plugin-sdk";
import type { Attendance } from "../ics/attendance.ts";
import { invalid, timeLine } from "../ics/event-text.ts";
import { instantOf, type Moment } from "../ics/moment.ts";
import { findZone, toWall, UTC, type Zone } from "../ics/zones.ts";
import type { CloudEvent } from "./google-text.ts";
import type { EventFields } from "./series-difference.ts";

const Text = Type.Optional(Type.String());
const Bound = Type.Object({ date: Text, dateTime: Text, timeZone: Text });
const Reminders = Type.Array(Type.Object({ method: Text, minutes: Type.Optional(Type.Number()) }));

/** An event, as far as it is used (Calendar API v3, "Events"). Of a removed one only few fields are certain. */
export const GoogleEvent = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1_100 }),
  etag: Text,
  status: Text,
  iCalUID: Text,
  updated: Text,
  summary: Text,
  description: Text,
  location: Text,
  colorId: Text,
  start: Type.Optional(Bound),
  end: Type.Optional(Bound),
  recurrence: Type.Optional(Type.Array(Type.String(), { maxItems: 500 })),
  recurringEventId: Text,
  originalStartTime: Type.Optional(Bound),
  transparency: Text,
  visibility: Text,
  hangoutLink: Text,
  conferenceData: Type.Optional(
    Type.Object({
      entryPoints: Type.Optional(Type.Array(Type.Object({ entryPointType: Text, uri: Text }))),
    }),
  ),
  attendees: Type.Optional(
    Type.Array(
      Type.Object({ email: Text, self: Type.Optional(Type.Boolean()), responseStatus: Text }),
    ),
  ),
  source: Type.Optional(Type.Object({ url: Text })),
  extendedProperties: Type.Optional(
    Type.Object({ private: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
  ),
  reminders: Type.Optional(
    Type.Object({
      useDefault: Type.Optional(Type.Boolean()),
      overrides: Type.Optional(Reminders),
    }),
  ),
});
export type GoogleEvent = Static<typeof GoogleEvent>;

/** The colours of events by `colorId`: the "modern" ones, as the calendar shows them. */
const COLORS: Readonly<Record<string, string>> = {
  1: "#7986cb",
  2: "#33b679",
  3: "#8e24aa",
  4: "#e67c73",
  5: "#f6bf26",
  6: "#f4511e",
  7: "#039be5",
  8: "#616161",
  9: "#3f51b5",
  10: "#0b8043",
  11: "#d50000",
};

const NO_CANCELLED = sentence(
  "no_cancelled_status",
  "a status cannot cancel an event of this calendar: delete it",
);

const ANSWERS: Readonly<Record<string, Attendance>> = {
  accepted: "accepted",
  declined: "declined",
  tentative: "tentative",
  needsAction: "needs-action",
};

/** Private properties of an event (`extendedProperties.private`), which only this program sees. */
const UID_KEY = "mantelUid";
const STAMP_KEY = "mantelStamp";

/** The event; `undefined` if it has no times, as a removed one. `zone` is that of the home, for times without a name. */
export function readGoogleEvent(
  event: GoogleEvent,
  zone: Zone,
  defaults: readonly number[],
): CloudEvent | undefined {
  const start = momentOf(event.start, zone);
  const end = momentOf(event.end, zone);
  if (!start || !end) return undefined;
  const own = event.extendedProperties?.private ?? {};
  const self = event.attendees?.find((each) => each.self);
  const answer = ANSWERS[self?.responseStatus ?? ""];
  const { useDefault, overrides = [] } = event.reminders ?? {};
  const popups = overrides.filter(({ method }) => method === "popup");
  return {
    uid: textOf(own[UID_KEY]) ?? event.iCalUID ?? event.id,
    start,
    end,
    origin: momentOf(event.originalStartTime, zone),
    title: event.summary ?? "",
    location: event.location,
    description: event.description,
    url: event.source?.url,
    busy: event.transparency !== "transparent",
    status: event.status === "tentative" ? "tentative" : "confirmed",
    isPrivate: event.visibility === "private" || event.visibility === "confidential",
    color: COLORS[event.colorId ?? ""],
    conference: meetingOf(event),
    attendance: self?.email && answer ? { address: self.email, answer } : undefined,
    reminders: useDefault ? defaults : popups.flatMap(({ minutes }) => minutes ?? []),
    modifiedAt: event.updated,
    repetitions: event.recurrence ?? [],
    stamp: textOf(own[STAMP_KEY]),
  };
}

/** The line that takes an occurrence out of its series. */
export function removedLine(event: GoogleEvent, zone: Zone): string | undefined {
  const origin = momentOf(event.originalStartTime, zone);
  return origin && timeLine("EXDATE", origin);
}

/** Minutes of the reminders that a calendar has for events without their own. */
export function popupMinutes(reminders: Static<typeof Reminders>): number[] {
  return reminders.flatMap(({ method, minutes }) => (method === "popup" ? (minutes ?? []) : []));
}

function meetingOf({ conferenceData, hangoutLink }: GoogleEvent): string | undefined {
  const video = conferenceData?.entryPoints?.find((each) => each.entryPointType === "video");
  return video?.uri ?? hangoutLink;
}

function momentOf(bound: Static<typeof Bound> | undefined, home: Zone): Moment | undefined {
  if (bound?.date !== undefined) {
    const wall = Date.parse(bound.date);
    return Number.isNaN(wall) ? undefined : { allDay: true, wall, zone: UTC };
  }
  const instant = Date.parse(bound?.dateTime ?? "");
  if (Number.isNaN(instant)) return undefined;
  const zone = findZone(bound?.timeZone ?? "") ?? home;
  return { allDay: false, wall: toWall(zone, instant), zone };
}

/** The fields as the service takes them; those that are absent stay in a PATCH. */
export function googleBody(
  fields: EventFields,
  { uid, otherRepetitions = [] }: { uid?: string; otherRepetitions?: readonly string[] } = {},
): object {
  const { title, location, description, url, busy, status, times, rule, stamp } = fields;
  if (status === "cancelled") throw invalid("/status", NO_CANCELLED);
  const own = {
    ...(uid === undefined ? {} : { [UID_KEY]: uid }),
    ...(stamp ? { [STAMP_KEY]: stamp } : {}),
  };
  return {
    ...present({ summary: title, location, description, status }),
    ...(url === undefined ? {} : { source: url === null ? null : { title: host(url), url } }),
    ...(busy === undefined ? {} : { transparency: busy ? "opaque" : "transparent" }),
    ...(times ? { start: googleBound(times.start), end: googleBound(times.end) } : {}),
    ...(rule === undefined
      ? {}
      : { recurrence: [...(rule === null ? [] : [`RRULE:${rule}`]), ...otherRepetitions] }),
    ...(Object.keys(own).length > 0 ? { extendedProperties: { private: own } } : {}),
  };
}

/** The fields that have a value; null is one. */
function present(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function host(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** Both kinds are named, because a PATCH from a time to a date has to take away the time. */
function googleBound(moment: Moment): object {
  if (moment.allDay) {
    return {
      date: new Date(moment.wall).toISOString().slice(0, 10),
      dateTime: null,
      timeZone: null,
    };
  }
  return { date: null, dateTime: googleTime(moment), timeZone: moment.zone.name };
}

/** RFC 3339. */
export function googleTime(moment: Moment): string {
  const text = new Date(instantOf(moment)).toISOString();
  return moment.allDay ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= 1_024 ? value : undefined;
}
