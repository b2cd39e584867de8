import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk";
import type { EngineCalendarEvent } from "./engine/automation.ts";
import { instantOf } from "./engine/zone.ts";

/** An event of a calendar as the engine uses it; empty for a cancelled one. Dates are days in `timeZone`. */
export function toEngineEvent(
  { id, calendarId, title, start, end, status, reminders = [] }: CalendarEvent,
  timeZone: string,
): EngineCalendarEvent[] {
  if (status === "cancelled") return [];
  const instant = (bound: CalendarBound, offsetMs = 0): number => {
    if ("dateTime" in bound) return Date.parse(bound.dateTime) + offsetMs;
    const [year = 0, month = 1, day = 1] = bound.date.split("-").map(Number);
    return instantOf({ year, month, day }, offsetMs / 1_000, timeZone);
  };
  const times = reminders.map((each) =>
    "at" in each ? Date.parse(each.at) : instant(start, each.offsetMs),
  );
  const event = { id, calendar: calendarId, title, start: instant(start), end: instant(end) };
  return [times.length > 0 ? { ...event, reminders: times } : event];
}
