import { type Static, Type } from "typebox";
import { CalendarWindow } from "../calendar.ts";
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
