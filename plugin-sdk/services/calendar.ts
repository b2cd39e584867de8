import { type Static, Type } from "typebox";
import { CalendarSource, CalendarWindow } from "../calendar.ts";
import { Strict } from "../schema.ts";
import { defineService } from "../service.ts";

export const CalendarQuery = Type.Object(
  { start: Type.String({ format: "date-time" }), end: Type.String({ format: "date-time" }) },
  Strict,
);
export type CalendarQuery = Static<typeof CalendarQuery>;

/** Returns all occurrences in a window that the published window does not cover. */
export const calendarEvents = defineService("calendar.events", {
  title: "Events of all calendars",
  input: CalendarQuery,
  output: CalendarWindow,
  repeatable: true,
});

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
  title: "Read a calendar now",
  input: Type.Object({ id: Type.String({ maxLength: 200 }) }, Strict),
  output: CalendarRefreshed,
  deadlineMs: 30_000,
});
