import { CalendarEvent, CalendarSource } from "@mantel/plugin-sdk/calendar";
import { CalendarRefreshed } from "@mantel/plugin-sdk/services";
import { Type } from "typebox";
import { AnswerWriter } from "../../calendar/answer.ts";
import { busySpans } from "../../calendar/busy.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Bound = (description: string) => Type.Optional(Type.String({ description }));
const Query = Type.Object({
  start: Bound("an RFC 3339 instant or a date; now when absent"),
  end: Bound("as start, exclusive; calendar.defaultDays later when absent, at most 366 days later"),
  from: Bound("the same as start"),
  to: Bound("the same as end"),
  tz: Bound("the IANA time zone for dates"),
  calendar: Type.Optional(
    Type.Array(Type.String(), { description: "ids of calendars; all when absent" }),
  ),
  limit: Bound("the maximum number of events, from 1 to 2000"),
});
const Window = Type.Object({
  start: Type.String({ format: "date-time" }),
  end: Type.String({ format: "date-time" }),
  timeZone: Type.String(),
});
const BusyAnswer = Type.Object({
  window: Window,
  busy: Type.Array(
    Type.Object({
      start: Type.String({ format: "date-time" }),
      /** Exclusive. */
      end: Type.String({ format: "date-time" }),
      /** The ids of the calendars that are busy in it, or in a part of it. */
      calendars: Type.Array(Type.String()),
    }),
  ),
  /** False if a calendar could not be read, or there are more events than are looked at (2,000). */
  complete: Type.Boolean(),
});
const CalendarAnswer = Type.Object({
  window: Window,
  events: Type.Array(CalendarEvent),
  sources: Type.Array(CalendarSource),
  /** True if there are more than `limit`. */
  truncated: Type.Boolean(),
  /** False if a source could not be read, or its events of the window are not all worked out. */
  complete: Type.Boolean(),
});

/** `/calendar`: events of all calendars, expanded and merged. */
export function calendarRoutes(parts: HttpDependencies): Route[] {
  const { calendar } = parts;
  const writer = new AnswerWriter();
  return [
    route({
      method: "GET",
      path: "/calendar/events",
      operationId: "listCalendarEvents",
      scope: "read",
      tag: "Calendar",
      summary: "List events that overlap a window of time",
      query: Query,
      answers: jsonAnswer("Events in order of their start", CalendarAnswer),
      errors: ["invalid", "service_unavailable", "deadline_passed"],
      async handle(ctx) {
        ctx.body = writer.json(await calendar.events(new URLSearchParams(ctx.querystring)));
        ctx.type = "application/json";
      },
    }),
    busyRoute(parts),
    refreshRoute(parts),
  ];
}

/** Free and busy times, without what the events are. */
function busyRoute({ calendar }: HttpDependencies): Route {
  return route({
    method: "GET",
    path: "/calendar/busy",
    operationId: "getBusyTimes",
    scope: "read",
    tag: "Calendar",
    summary: "List the times in which calendars are busy",
    query: Type.Omit(Query, ["limit"]),
    answers: jsonAnswer("Busy times in order; all others are free", BusyAnswer),
    errors: ["invalid", "service_unavailable", "deadline_passed"],
    async handle(ctx) {
      const answer = await calendar.events(new URLSearchParams(ctx.querystring));
      const { window, complete, truncated } = answer;
      return { window, busy: busySpans(answer), complete: complete && !truncated };
    },
  });
}

function refreshRoute({ calendarActions }: HttpDependencies): Route {
  return route({
    method: "POST",
    path: "/calendar/sources/:id/refresh",
    operationId: "refreshCalendar",
    scope: "control",
    tag: "Calendar",
    summary: "Read a calendar now",
    params: Type.Object({ id: Type.String({ maxLength: 200, description: "the id of a source" }) }),
    answers: jsonAnswer("The state of the calendar", CalendarRefreshed),
    errors: ["not_found", "conflict", "service_unavailable", "deadline_passed"],
    handle: (_, { params }) => calendarActions.refresh(params.id),
  });
}
