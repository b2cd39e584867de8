import { Type, type Static } from "typebox";
import { Nullable, Strict } from "./schema.ts";

/** An all-day bound: `{date: "2026-11-20"}` (RFC 5545 DATE, in no time zone). */
const CalendarDate = Type.Object({ date: Type.String({ format: "date" }) }, Strict);

/** A timed bound: an RFC 3339 instant with its offset, and the IANA zone it is meant in. */
const CalendarInstant = Type.Object(
  { dateTime: Type.String({ format: "date-time" }), timeZone: Type.String() },
  Strict,
);

/** Either a date or an instant, never both. */
export const CalendarBound = Type.Union([CalendarDate, CalendarInstant]);
export type CalendarBound = Static<typeof CalendarBound>;

/** One occurrence of an event (RFC 5545 VEVENT). `end` is exclusive. */
export const CalendarEvent = Type.Object(
  {
    /** Unique among all occurrences, and the same at every reading of the feed. */
    id: Type.String(),
    calendarId: Type.String(),
    uid: Type.String(),
    /** Which occurrence of a series this is, as the start its rule gave it; null for a single event. */
    recurrenceId: Nullable(Type.String()),
    title: Type.String(),
    start: CalendarBound,
    end: CalendarBound,
    allDay: Type.Boolean(),
    status: Type.Enum(["confirmed", "tentative", "cancelled"]),
    /** False for events marked as free (RFC 5545 TRANSP:TRANSPARENT). */
    busy: Type.Boolean(),
    location: Nullable(Type.String()),
    description: Nullable(Type.String()),
    url: Nullable(Type.String()),
    /** `#rrggbb`. */
    color: Nullable(Type.String()),
  },
  Strict,
);
export type CalendarEvent = Static<typeof CalendarEvent>;

/** A feed or file, and how its last reading went. */
export const CalendarSource = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    color: Type.String(),
    /** `stale`: the last reading failed and older events are shown. `error`: there is nothing to show. */
    status: Type.Enum(["ok", "stale", "error"]),
    fetchedAt: Nullable(Type.String({ format: "date-time" })),
    error: Type.Optional(Type.String()),
  },
  Strict,
);
export type CalendarSource = Static<typeof CalendarSource>;

/** Every occurrence that touches the half-open window from `start` to `end` (ISO 8601 instants). */
export const CalendarWindow = Type.Object(
  {
    start: Type.String({ format: "date-time" }),
    end: Type.String({ format: "date-time" }),
    events: Type.Array(CalendarEvent),
    sources: Type.Array(CalendarSource),
  },
  Strict,
);
export type CalendarWindow = Static<typeof CalendarWindow>;

/** Some events of a window. The same events have the same hash, and travel once. */
export const CalendarPart = Type.Object(
  {
    hash: Type.String({ minLength: 1, maxLength: 64 }),
    events: Type.Array(CalendarEvent, { maxItems: 1_000 }),
  },
  Strict,
);
export type CalendarPart = Static<typeof CalendarPart>;

/** A window as it travels: its events are those of parts that the host has by now, in this order. */
export const PartedWindow = Type.Object(
  {
    start: Type.String({ format: "date-time" }),
    end: Type.String({ format: "date-time" }),
    /** Hashes. */
    parts: Type.Array(Type.String()),
    sources: Type.Array(CalendarSource),
  },
  Strict,
);
export type PartedWindow = Static<typeof PartedWindow>;
