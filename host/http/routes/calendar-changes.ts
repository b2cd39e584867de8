import { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import {
  type CalendarChange,
  type CalendarChanged,
  CalendarEventPatch,
  ChangeScope,
  EventPhrase,
  NewCalendarEvent,
} from "@mantel/plugin-sdk/services";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { check } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { ifMatch } from "../etag.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";

const Strict = { additionalProperties: false } as const;
const Params = Type.Object({
  id: Type.String({ maxLength: 2_500, description: "the id of an event, percent-encoded" }),
});
export const CalendarId = Type.String({ maxLength: 200, description: "the id of a source" });
const Scope = Type.Optional(ChangeScope);
const Query = Type.Object({ scope: Scope });
const NewEvent = Type.Object({ calendarId: CalendarId, ...NewCalendarEvent.properties }, Strict);
const SaidEvent = Type.Object({ calendarId: CalendarId, text: EventPhrase }, Strict);
/** `calendarId` moves the event, and `scope` may be in the body as well. */
const Patch = Type.Object(
  { calendarId: Type.Optional(CalendarId), scope: Scope, ...CalendarEventPatch.properties },
  Strict,
);

const shared = { tag: "Calendar", params: Params } as const;
export const CHANGE_ERRORS = [
  "not_found",
  "conflict",
  "revision_stale",
  "invalid",
  "service_unavailable",
  "deadline_passed",
  "outcome_unknown",
] as const;

/** `/calendar/events`: single events, at the servers of their calendars. */
export function calendarChangeRoutes(parts: HttpDependencies): Route[] {
  return [readingRoute(parts), creatingRoute(parts), updatingRoute(parts), removingRoute(parts)];
}

function readingRoute({ calendarActions }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/calendar/events/:id",
    operationId: "getCalendarEvent",
    scope: "read",
    summary: "Read an event from its server, with the entity tag for If-Match",
    answers: jsonAnswer("The event", CalendarEvent),
    errors: ["not_found", "conflict", "service_unavailable", "deadline_passed"],
    handle: async (ctx, { params }) => told(ctx, await calendarActions.read(params.id)),
  });
}

function creatingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    method: "POST",
    path: "/calendar/events",
    operationId: "createCalendarEvent",
    scope: "edit",
    tag: "Calendar",
    summary: "Create an event in a CalDAV calendar",
    body: { schema: Type.Union([NewEvent, SaidEvent]) },
    answers: { 201: { description: "The event, as its server has it", schema: CalendarEvent } },
    errors: CHANGE_ERRORS,
    async handle(ctx, { body, principal }) {
      const changed = await calendarActions.change(creation(body));
      const event = told(ctx, changed);
      await recordCompleted(parts, principal, { action: "calendar.event.create", event: event.id });
      ctx.status = 201;
      return event;
    },
  });
}

/** The change that a body means: an event in words if it has `text`. */
function creation(body: unknown): CalendarChange {
  if (typeof body === "object" && body !== null && "text" in body) {
    return { action: "create", ...check(SaidEvent, body, "the event") };
  }
  const { calendarId, ...fields } = check(NewEvent, body, "the event");
  return { action: "create", calendarId, fields };
}

function updatingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "PATCH",
    path: "/calendar/events/:id",
    operationId: "updateCalendarEvent",
    scope: "edit",
    summary: "Change an event; `scope` chooses its occurrences, absent means one",
    query: Query,
    headers: ["If-Match"],
    body: { schema: Patch, mergePatch: true },
    answers: jsonAnswer("The event, as its server has it", CalendarEvent),
    errors: CHANGE_ERRORS,
    async handle(ctx, { params, query, body, principal }) {
      const patch = check(Patch, body, "the change");
      const { calendarId, scope = query.scope ?? "this", ...fields } = patch;
      const move = calendarId === undefined ? {} : { moveTo: calendarId };
      const update = { scope, fields, ...move, ...ifMatch(ctx) };
      const event = told(ctx, await calendarActions.update(params.id, update));
      await recordCompleted(parts, principal, {
        action: "calendar.event.update",
        event: params.id,
      });
      return event;
    },
  });
}

function removingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "DELETE",
    path: "/calendar/events/:id",
    operationId: "removeCalendarEvent",
    scope: "edit",
    summary: "Remove an event; `scope` chooses its occurrences, absent means one",
    query: Query,
    headers: ["If-Match"],
    answers: { 204: { description: "The event is removed at its server" } },
    errors: CHANGE_ERRORS,
    async handle(ctx, { params, query, principal }) {
      const { scope = "this" } = query;
      await calendarActions.remove(params.id, { scope, ...ifMatch(ctx) });
      await recordCompleted(parts, principal, {
        action: "calendar.event.remove",
        event: params.id,
      });
      ctx.status = 204;
    },
  });
}

/** The event of an answer; its entity tag goes into the header. */
function told(ctx: Context, { event, etag }: CalendarChanged): CalendarEvent {
  if (!event) throw new MantelError("not_found", "no event has this id");
  if (etag !== null) ctx.set("ETag", etag);
  return event;
}
