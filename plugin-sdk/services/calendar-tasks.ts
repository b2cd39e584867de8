import { type Static, Type } from "typebox";
import { CalendarBound, CalendarSource } from "../calendar.ts";
import { Nullable, Strict } from "../schema.ts";
import { defineService } from "../service.ts";
import { IfMatch, Place, WrittenBound } from "./calendar.ts";

const TaskStatus = Type.Enum(["needs-action", "in-process", "completed", "cancelled"]);
const Priority = Nullable(Type.Integer({ minimum: 1, maximum: 9 }));

/** A task of a calendar (RFC 5545 VTODO). */
export const CalendarTask = Type.Object(
  {
    /** The id of the calendar, a slash, and the UID. */
    id: Type.String(),
    calendarId: Type.String(),
    uid: Type.String(),
    title: Type.String(),
    description: Nullable(Type.String()),
    due: Nullable(CalendarBound),
    status: TaskStatus,
    completedAt: Nullable(Type.String({ format: "date-time" })),
    /** From 1, the highest, to 9; null without one. */
    priority: Priority,
    /** True for a task that repeats. Its state is that of its series, and it is only shown. */
    repeats: Type.Boolean(),
  },
  Strict,
);
export type CalendarTask = Static<typeof CalendarTask>;

/** The answer of `calendar.tasks`: the lists and their tasks. */
export const CalendarTasks = Type.Object(
  {
    /** The calendars that can have tasks. */
    lists: Type.Array(CalendarSource),
    /** By list; in each the open ones first, by due date. */
    tasks: Type.Array(CalendarTask),
    /** True if a list has more tasks than can be shown. */
    truncated: Type.Boolean(),
  },
  Strict,
);
export type CalendarTasks = Static<typeof CalendarTasks>;

/** Returns the tasks of all calendars, as they were read last. */
export const calendarTasks = defineService("calendar.tasks", {
  providers: "many",
  title: "Tasks of all calendars",
  input: Type.Object({}, Strict),
  output: CalendarTasks,
  repeatable: true,
  open: "read",
});

const fields = {
  title: Type.String({ minLength: 1, maxLength: 500 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 5_000 }))),
  due: Type.Optional(Nullable(WrittenBound)),
  status: Type.Optional(TaskStatus),
  priority: Type.Optional(Priority),
} as const;

/** A task to create. */
export const NewCalendarTask = Type.Object(fields, Strict);
export type NewCalendarTask = Static<typeof NewCalendarTask>;

/** The fields of a task to change; absent ones stay. */
export const CalendarTaskPatch = Type.Object(
  { ...fields, title: Type.Optional(fields.title) },
  Strict,
);
export type CalendarTaskPatch = Static<typeof CalendarTaskPatch>;

const uid = Type.String({ minLength: 1, maxLength: 2_000 });

/** One action on a task of a calendar. */
export const CalendarTaskChange = Type.Union([
  Type.Object({ action: Type.Literal("read"), ...Place, uid }, Strict),
  Type.Object({ action: Type.Literal("create"), ...Place, fields: NewCalendarTask }, Strict),
  Type.Object(
    {
      action: Type.Literal("update"),
      ...Place,
      uid,
      ifMatch: IfMatch,
      fields: CalendarTaskPatch,
    },
    Strict,
  ),
  Type.Object({ action: Type.Literal("remove"), ...Place, uid, ifMatch: IfMatch }, Strict),
]);
export type CalendarTaskChange = Static<typeof CalendarTaskChange>;

/** The answer of `calendar.tasks.change`: the task as its server has it now. */
export const CalendarTaskChanged = Type.Object(
  {
    /** Null if it is removed. */
    task: Nullable(CalendarTask),
    /** The server's entity tag of the task; null without one. */
    etag: Nullable(Type.String()),
  },
  Strict,
);
export type CalendarTaskChanged = Static<typeof CalendarTaskChanged>;

/** Reads, creates, changes or removes a task at its server. Resolves when the server has confirmed it. */
export const calendarTaskChange = defineService("calendar.tasks.change", {
  providers: "many",
  title: "Change tasks of a calendar",
  input: CalendarTaskChange,
  output: CalendarTaskChanged,
  deadlineMs: 30_000,
  open: "edit",
});
