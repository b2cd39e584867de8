import { Type, type Static } from "typebox";
import { Nullable, SentenceSchema, Strict } from "./schema.ts";

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

/** A time from the start of an event in milliseconds, below 0 before it, or an instant. */
const CalendarReminder = Type.Union([
  /** Of a whole day on the clock of the home, from midnight. */
  Type.Object({ offsetMs: Type.Integer() }, Strict),
  Type.Object({ at: Type.String({ format: "date-time" }) }, Strict),
]);

/** One occurrence of an event (RFC 5545 VEVENT). `end` is exclusive. */
export const CalendarEvent = Type.Object(
  {
    /** Unique among all occurrences, and stable across reads of the feed. */
    id: Type.String(),
    calendarId: Type.String(),
    uid: Type.String(),
    /** The start that the recurrence rule gave this occurrence (RFC 5545 RECURRENCE-ID); null for a single event. */
    recurrenceId: Nullable(Type.String()),
    title: Type.String(),
    start: CalendarBound,
    end: CalendarBound,
    allDay: Type.Boolean(),
    status: Type.Enum(["confirmed", "tentative", "cancelled"]),
    /** False for events marked as free (RFC 5545 TRANSP:TRANSPARENT), and for cancelled and declined ones. */
    busy: Type.Boolean(),
    location: Nullable(Type.String()),
    description: Nullable(Type.String()),
    url: Nullable(Type.String()),
    /** `#rrggbb`. */
    color: Nullable(Type.String()),
    /** RFC 5545 CATEGORIES; absent without any. */
    categories: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
    /** The answer of the calendar's own person to an invitation (RFC 5545 PARTSTAT); absent if not known or not invited. */
    attendance: Type.Optional(
      Type.Enum(["accepted", "declined", "tentative", "delegated", "needs-action"]),
    ),
    /** The web address of its meeting (RFC 7986 CONFERENCE, or a known service in its texts); absent without one. */
    conference: Type.Optional(Type.String({ maxLength: 2_000 })),
    /** The times of its alarms (RFC 5545 VALARM); absent without any, and for declined and cancelled events. */
    reminders: Type.Optional(Type.Array(CalendarReminder, { maxItems: 10 })),
    /** The time to travel to it before its start (Apple's X-APPLE-TRAVEL-DURATION); absent without one. */
    travelMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    /** The reason why only the first occurrence is shown of an event whose repetitions cannot be followed. */
    problem: Type.Optional(Type.String()),
    /** `problem` in a form that can be translated. */
    reason: Type.Optional(SentenceSchema),
  },
  Strict,
);
export type CalendarEvent = Static<typeof CalendarEvent>;

/** A calendar feed or file with the result of its last read. */
export const CalendarSource = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    color: Type.String(),
    /** `stale`: the last read failed, so older events are shown. `error`: the read failed and no events are stored. */
    status: Type.Enum(["ok", "stale", "error"]),
    /** The time of the last confirmation: the last successful read, also of unchanged content. */
    fetchedAt: Nullable(Type.String({ format: "date-time" })),
    /** The time at which the content last changed, as far as it is known. */
    changedAt: Type.Optional(Nullable(Type.String({ format: "date-time" }))),
    /**
     * Present if events of the window are missing. `pending`: they are not all read or worked out yet; meanwhile the
     * host shows the previous ones. `partial`: there are more than can be shown.
     */
    incomplete: Type.Optional(Type.Enum(["pending", "partial"])),
    /** The number of events and files that cannot be read, or not with all occurrences; absent means none. */
    skipped: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Present while the content is transferred, if that takes long. `total` is null if it is not known. */
    progress: Type.Optional(
      Type.Object(
        {
          done: Type.Number({ minimum: 0 }),
          total: Nullable(Type.Number({ minimum: 0 })),
          unit: Type.Enum(["bytes", "events"]),
        },
        Strict,
      ),
    ),
    /** True for a calendar in which clients can create and change events. */
    writable: Type.Optional(Type.Boolean()),
    /** The SHA-256 fingerprint of the server's certificate, if that is not trusted and the user may accept it. */
    fingerprint: Type.Optional(Type.String({ maxLength: 100 })),
    /** Concerns the window that was asked for. */
    error: Type.Optional(Type.String()),
    /** `error` in parts that can be translated. */
    reasons: Type.Optional(Type.Array(SentenceSchema, { maxItems: 20 })),
  },
  Strict,
);
export type CalendarSource = Static<typeof CalendarSource>;

/** All occurrences that overlap the window from `start` (inclusive) to `end` (exclusive), both ISO 8601 instants. */
export const CalendarWindow = Type.Object(
  {
    start: Type.String({ format: "date-time" }),
    end: Type.String({ format: "date-time" }),
    events: Type.Array(CalendarEvent),
    sources: Type.Array(CalendarSource),
    /** Set by the host in the answer to a plugin. True if no source lacks events. */
    complete: Type.Optional(Type.Boolean()),
  },
  Strict,
);
export type CalendarWindow = Static<typeof CalendarWindow>;

/** A group of events of a window. Equal groups have equal hashes, so each one is sent only once. */
export const CalendarPart = Type.Object(
  {
    hash: Type.String({ minLength: 1, maxLength: 64 }),
    events: Type.Array(CalendarEvent, { maxItems: 1_000 }),
  },
  Strict,
);
export type CalendarPart = Static<typeof CalendarPart>;

/** A window as it is sent to the host: it names parts that were sent before instead of repeating their events. */
export const PartedWindow = Type.Object(
  {
    start: Type.String({ format: "date-time" }),
    end: Type.String({ format: "date-time" }),
    /** Hashes of the parts, in the order of their events. */
    parts: Type.Array(Type.String()),
    sources: Type.Array(CalendarSource),
  },
  Strict,
);
export type PartedWindow = Static<typeof PartedWindow>;
