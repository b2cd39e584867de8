import { MantelError } from "@mantel/plugin-sdk/errors";
import {
  CalendarTask,
  type CalendarTaskChanged,
  CalendarTaskPatch,
  CalendarTasks,
  NewCalendarTask,
} from "@mantel/plugin-sdk/services";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { check } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { ifMatch } from "../etag.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";
import { CalendarId, CHANGE_ERRORS } from "./calendar-changes.ts";

const Params = Type.Object({
  id: Type.String({ maxLength: 2_500, description: "the id of a task, percent-encoded" }),
});
const NewTask = Type.Object(
  { calendarId: CalendarId, ...NewCalendarTask.properties },
  { additionalProperties: false },
);

const tag = "Calendar";

/** `/calendar/tasks`: tasks of CalDAV calendars. */
export function calendarTaskRoutes(parts: HttpDependencies): Route[] {
  return [
    ...readingRoutes(parts),
    creatingRoute(parts),
    updatingRoute(parts),
    removingRoute(parts),
  ];
}

function readingRoutes({ calendarActions }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/calendar/tasks",
      operationId: "listCalendarTasks",
      scope: "read",
      tag,
      summary: "List the tasks of CalDAV calendars",
      answers: jsonAnswer("The lists and their tasks, open ones first", CalendarTasks),
      errors: ["service_unavailable", "deadline_passed"],
      handle: () => calendarActions.tasks(),
    }),
    route({
      method: "GET",
      path: "/calendar/tasks/:id",
      operationId: "getCalendarTask",
      scope: "read",
      tag,
      summary: "Read a task from its server, with the entity tag for If-Match",
      params: Params,
      answers: jsonAnswer("The task", CalendarTask),
      errors: ["not_found", "conflict", "service_unavailable", "deadline_passed"],
      handle: async (ctx, { params }) => told(ctx, await calendarActions.readTask(params.id)),
    }),
  ];
}

function creatingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    method: "POST",
    path: "/calendar/tasks",
    operationId: "createCalendarTask",
    scope: "edit",
    tag,
    summary: "Create a task in a CalDAV calendar",
    body: { schema: NewTask },
    answers: { 201: { description: "The task, as its server has it", schema: CalendarTask } },
    errors: CHANGE_ERRORS,
    async handle(ctx, { body, principal }) {
      const { calendarId, ...fields } = check(NewTask, body, "the task");
      const changed = await calendarActions.changeTask({ action: "create", calendarId, fields });
      const task = told(ctx, changed);
      await recordCompleted(parts, principal, { action: "calendar.task.create", task: task.id });
      ctx.status = 201;
      return task;
    },
  });
}

function updatingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    method: "PATCH",
    path: "/calendar/tasks/:id",
    operationId: "updateCalendarTask",
    scope: "edit",
    tag,
    summary: "Change a task, such as its status",
    params: Params,
    headers: ["If-Match"],
    body: { schema: CalendarTaskPatch, mergePatch: true },
    answers: jsonAnswer("The task, as its server has it", CalendarTask),
    errors: CHANGE_ERRORS,
    async handle(ctx, { params, body, principal }) {
      const fields = check(CalendarTaskPatch, body, "the change");
      const update = { fields, ...ifMatch(ctx) };
      const task = told(ctx, await calendarActions.updateTask(params.id, update));
      await recordCompleted(parts, principal, { action: "calendar.task.update", task: params.id });
      return task;
    },
  });
}

function removingRoute({ calendarActions, ...parts }: HttpDependencies): Route {
  return route({
    method: "DELETE",
    path: "/calendar/tasks/:id",
    operationId: "removeCalendarTask",
    scope: "edit",
    tag,
    summary: "Remove a task",
    params: Params,
    headers: ["If-Match"],
    answers: { 204: { description: "The task is removed at its server" } },
    errors: CHANGE_ERRORS,
    async handle(ctx, { params, principal }) {
      await calendarActions.removeTask(params.id, ifMatch(ctx));
      await recordCompleted(parts, principal, { action: "calendar.task.remove", task: params.id });
      ctx.status = 204;
    },
  });
}

/** The task of an answer; its entity tag goes into the header. */
function told(ctx: Context, { task, etag }: CalendarTaskChanged): CalendarTask {
  if (!task) throw new MantelError("not_found", "no task has this id");
  if (etag !== null) ctx.set("ETag", etag);
  return task;
}
