import { type Static, Type } from "typebox";
import { CalendarEvent, CalendarSource, CalendarWindow } from "../calendar.ts";
import { Nullable, Strict } from "../schema.ts";
import { defineService } from "../service.ts";

/** A window of time, `end` exclusive. */
export const CalendarQuery = Type.Object(
  { start: Type.String({ format: "date-time" }), end: Type.String({ format: "date-time" }) },
  Strict,
);
export type CalendarQuery = Static<typeof CalendarQuery>;

/** Returns all occurrences in a window that the published window does not cover. */
export const calendarEvents = defineService("calendar.events", {
  providers: "many",
  title: "Events of all calendars",
  input: CalendarQuery,
  output: CalendarWindow,
  repeatable: true,
});

/** The answer of `calendar.refresh`. */
export const CalendarRefreshed = Type.Object(
  {
    source: CalendarSource,
    /** False if the reading takes longer; then it continues. */
    finished: Type.Boolean(),
  },
  Strict,
);
export type CalendarRefreshed = Static<typeof CalendarRefreshed>;

/** Reads one calendar now, and returns its state. */
export const calendarRefresh = defineService("calendar.refresh", {
  providers: "many",
  title: "Read a calendar now",
  input: Type.Object({ id: Type.String({ maxLength: 200 }) }, Strict),
  output: CalendarRefreshed,
  deadlineMs: 30_000,
});

/** A bound as clients write it: a date, or an instant. Without a zone it is meant in the zone of the home. */
export const WrittenBound = Type.Union([
  Type.Object({ date: Type.String({ format: "date" }) }, Strict),
  Type.Object(
    {
      dateTime: Type.String({ format: "date-time" }),
      timeZone: Type.Optional(Type.String({ maxLength: 100 })),
    },
    Strict,
  ),
]);
export type WrittenBound = Static<typeof WrittenBound>;

const fields = {
  title: Type.String({ maxLength: 500 }),
  start: WrittenBound,
  /** Exclusive. Absent: a day, or an hour, or the length that the event has. */
  end: Type.Optional(WrittenBound),
  location: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
  description: Type.Optional(Nullable(Type.String({ maxLength: 5_000 }))),
  url: Type.Optional(Nullable(Type.String({ maxLength: 2_000, pattern: "^https?://" }))),
  busy: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Enum(["confirmed", "tentative", "cancelled"])),
  /** The value of an RRULE (RFC 5545, 3.3.10), such as `FREQ=WEEKLY;COUNT=10`; null for an event that does not repeat. */
  rrule: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
} as const;

/** An event to create. */
export const NewCalendarEvent = Type.Object(fields, Strict);
export type NewCalendarEvent = Static<typeof NewCalendarEvent>;

/** The fields of an event to change; absent ones stay. */
export const CalendarEventPatch = Type.Object(
  { ...fields, title: Type.Optional(fields.title), start: Type.Optional(fields.start) },
  Strict,
);
export type CalendarEventPatch = Static<typeof CalendarEventPatch>;

/** The occurrences of a repeating event that a change concerns. */
export const ChangeScope = Type.Enum(["this", "following", "all"]);
export type ChangeScope = Static<typeof ChangeScope>;

/** An event in words, such as `Tomorrow 9 dentist`, in English or the language of the home. */
export const EventPhrase = Type.String({ minLength: 1, maxLength: 300 });

/** The id of an event without the id of its calendar and the slash after it. */
const EventKey = Type.String({ minLength: 1, maxLength: 2_000 });
export const IfMatch = Type.Optional(Type.String({ maxLength: 1_000 }));
export const Place = { calendarId: Type.String({ maxLength: 200 }) } as const;

/** One action on the events of a calendar. */
export const CalendarChange = Type.Union([
  Type.Object({ action: Type.Literal("read"), ...Place, event: EventKey }, Strict),
  Type.Object({ action: Type.Literal("create"), ...Place, fields: NewCalendarEvent }, Strict),
  Type.Object({ action: Type.Literal("create"), ...Place, text: EventPhrase }, Strict),
  Type.Object(
    {
      action: Type.Literal("update"),
      ...Place,
      event: EventKey,
      scope: ChangeScope,
      ifMatch: IfMatch,
      fields: CalendarEventPatch,
      /** The calendar of the same provider that the event moves to. */
      moveTo: Type.Optional(Place.calendarId),
    },
    Strict,
  ),
  Type.Object(
    {
      action: Type.Literal("remove"),
      ...Place,
      event: EventKey,
      scope: ChangeScope,
      ifMatch: IfMatch,
    },
    Strict,
  ),
]);
export type CalendarChange = Static<typeof CalendarChange>;

/** The answer of `calendar.change`: the event as its server has it now. */
export const CalendarChanged = Type.Object(
  {
    /** Null if it is removed, or its calendar hides it. */
    event: Nullable(CalendarEvent),
    /** The server's entity tag of the event; null without one. */
    etag: Nullable(Type.String()),
  },
  Strict,
);
export type CalendarChanged = Static<typeof CalendarChanged>;

/** Reads, creates, changes or removes an event at its server. Resolves when the server has confirmed it. */
export const calendarChange = defineService("calendar.change", {
  providers: "many",
  title: "Change events of a calendar",
  input: CalendarChange,
  output: CalendarChanged,
  deadlineMs: 30_000,
  open: "edit",
});
