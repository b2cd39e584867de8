import {
  type CalendarTask,
  type CalendarTaskPatch,
  MantelError,
  type NewCalendarTask,
  sentence,
} from "@mantel/plugin-sdk";
import { boundOf } from "../view.ts";
import { CalendarObject, Component, escapeText, folded, valueOf } from "./edit-lines.ts";
import { invalid, momentOf, stamp, timeLine } from "./event-text.ts";
import { type FeedZones, Properties, textIn } from "./event.ts";
import { instantOf, type Moment } from "./moment.ts";
import { type ChangeContext, emptyObject, type NewObject, withZones } from "./new-event.ts";
import { parseFeed, type RawCalendar } from "./parse.ts";
import { TimeSlice } from "./time-slice.ts";
import { zoneTable } from "./vtimezone.ts";
import { compact } from "./zone-text.ts";
import type { Zone } from "./zones.ts";

/** A task as its object has it, without the calendar that it is in. */
export type Task = Omit<CalendarTask, "id" | "calendarId">;

/** The text of a VTODO, and how it is understood. */
interface TaskText {
  readonly text: Component;
  readonly due: Moment | undefined;
  readonly start: Moment | undefined;
  readonly task: Task;
}

const NO_TASK = sentence("no_such_task", "no task has this id");
const REPEATS = sentence(
  "task_repeats",
  "a task that repeats cannot be changed here: change it in the program that made it, or with the server's own web page",
);
const DUE_IS_DATE = sentence(
  "due_is_date",
  "the task begins at a date, so due must be a date as well",
);
const DUE_IS_TIME = sentence(
  "due_is_time",
  "the task begins at a time, so due must be a time as well",
);
const BEGINS_LATER = sentence("begins_later", "the task begins later");

const REPETITIONS = ["RRULE", "RDATE", "RECURRENCE-ID"] as const;
/** Fits every object with a VTODO, whatever the case of its letters. */
const BEGINNING = /^BEGIN:VTODO\s*$/im;

/**
 * The task of an object; `undefined` if it has none. Of one that repeats it is the series.
 * @param parsed the object's calendar, if it is parsed already
 * @throws MantelError `invalid` for content that is not a calendar
 */
export async function readTask(
  bytes: Uint8Array,
  floating: Zone,
  parsed?: RawCalendar,
): Promise<Task | undefined> {
  if (parsed?.others.tasks === 0) return undefined;
  if (!BEGINNING.test(Buffer.from(bytes).toString("latin1"))) return undefined;
  const [calendar] = parsed ? [parsed] : await parseFeed(bytes, new TimeSlice());
  return understood(CalendarObject.read(bytes), calendar, floating)?.task;
}

/** The object of a new task. @throws MantelError `invalid` with the field */
export function newTask(fields: NewCalendarTask, context: ChangeContext): NewObject {
  const uid = context.newUid();
  const lines = ["BEGIN:VTODO", `UID:${uid}`, "END:VTODO"].map((line) => folded(line));
  const text = new Component(lines);
  const moments = setFields({ text, due: undefined, start: undefined }, fields, context);
  const stampAt = `${compact(context.now)}Z`;
  text.set("DTSTAMP", `DTSTAMP:${stampAt}`).set("CREATED", `CREATED:${stampAt}`);
  return { uid, bytes: withZones(emptyObject().with([text]), moments).bytes };
}

/**
 * An object with a changed task. Every other line stays as it is.
 * @throws MantelError `invalid` with the field; `conflict` as `requireSingle`
 */
export async function changedTask(
  bytes: Uint8Array,
  fields: CalendarTaskPatch,
  context: ChangeContext,
): Promise<Buffer> {
  const object = CalendarObject.read(bytes);
  const [calendar] = await parseFeed(bytes, new TimeSlice());
  const found = understood(object, calendar, context.zone);
  if (!found) throw new MantelError("not_found", NO_TASK);
  requireSingle(found.task);
  const text = found.text.copy();
  const moments = setFields({ ...found, text }, fields, context);
  stamp(text, context.now);
  const components = object.components.map((each) => (each === found.text ? text : each));
  return withZones(object.with(components), moments).bytes;
}

/** @throws MantelError `conflict` for a task that repeats */
export function requireSingle({ repeats }: Task): void {
  if (!repeats) return;
  throw new MantelError("conflict", REPEATS);
}

/** Several tasks in an object are a series and its changed occurrences. */
function understood(
  object: CalendarObject,
  calendar: RawCalendar | undefined,
  floating: Zone,
): TaskText | undefined {
  const texts = object.of("VTODO");
  const text = texts.find((each) => each.find("RECURRENCE-ID") === undefined) ?? texts[0];
  if (!text) return undefined;
  const zones: FeedZones = { floating, find: zoneTable(calendar?.zones ?? []) };
  const properties = new Properties({ lines: text.properties }, zones);
  const moment = (name: string) => orNothing(() => properties.moment(name, floating));
  const due = moment("DUE");
  const completed = moment("COMPLETED");
  const task: Task = {
    uid: valueOf(text.find("UID") ?? ""),
    ...textIn(properties),
    due: (due && orNothing(() => boundOf(due))) ?? null,
    status: statusOf(text),
    completedAt: completed ? new Date(instantOf(completed)).toISOString() : null,
    priority: priorityOf(text),
    repeats: texts.length > 1 || REPETITIONS.some((name) => text.find(name) !== undefined),
  };
  return { text, due, start: moment("DTSTART"), task };
}

/** A time that cannot be read does not hide its task. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const STATUSES = {
  "NEEDS-ACTION": "needs-action",
  "IN-PROCESS": "in-process",
  COMPLETED: "completed",
  CANCELLED: "cancelled",
} as const;

function statusOf(text: Component): Task["status"] {
  const written = valueOf(text.find("STATUS") ?? "").toUpperCase();
  if (Object.hasOwn(STATUSES, written)) return STATUSES[written as keyof typeof STATUSES];
  const isDone = text.find("COMPLETED") ?? (percentOf(text) === 100 ? "" : undefined);
  return isDone === undefined ? "needs-action" : "completed";
}

function percentOf(text: Component): number {
  return Number(valueOf(text.find("PERCENT-COMPLETE") ?? ""));
}

/** 0 means none (RFC 5545, 3.8.1.9). */
function priorityOf(text: Component): number | null {
  const priority = Number(valueOf(text.find("PRIORITY") ?? ""));
  return Number.isInteger(priority) && priority >= 1 && priority <= 9 ? priority : null;
}

/** Writes the changed fields. Returns the moments whose zones the object has to describe. */
function setFields(
  before: Pick<TaskText, "text" | "due" | "start">,
  { title, description, due, status, priority }: CalendarTaskPatch,
  context: ChangeContext,
): Moment[] {
  const { text } = before;
  if (title !== undefined) text.set("SUMMARY", `SUMMARY:${escapeText(title)}`);
  if (description !== undefined) {
    text.set("DESCRIPTION", ...(description ? [`DESCRIPTION:${escapeText(description)}`] : []));
  }
  if (priority !== undefined) {
    text.set("PRIORITY", ...(priority === null ? [] : [`PRIORITY:${priority}`]));
  }
  if (status !== undefined && status !== statusOf(text)) setStatus(text, status, context.now);
  if (due === undefined) return [];
  const zone = before.due && !before.due.allDay ? before.due.zone : context.zone;
  const moment = due === null ? undefined : momentOf(due, zone, "due");
  setDue(before, moment);
  return moment ? [moment] : [];
}

function setStatus(text: Component, status: Task["status"], now: number): void {
  text.set("STATUS", `STATUS:${status.toUpperCase()}`);
  const isDone = status === "completed";
  text.set("COMPLETED", ...(isDone ? [`COMPLETED:${compact(now)}Z`] : []));
  if (isDone) text.set("PERCENT-COMPLETE", "PERCENT-COMPLETE:100");
  else if (percentOf(text) === 100) text.set("PERCENT-COMPLETE");
}

/**
 * Writes when a task is due. Some programs write the same time as its start, which moves along.
 * @throws MantelError `invalid` if the task would begin later (RFC 5545, 3.8.2.3)
 */
function setDue({ text, due, start }: Omit<TaskText, "task">, to: Moment | undefined): void {
  const isSame = due && start && due.allDay === start.allDay && instantOf(due) === instantOf(start);
  if (to && start && !isSame) {
    if (to.allDay !== start.allDay) {
      throw invalid("/due", start.allDay ? DUE_IS_DATE : DUE_IS_TIME);
    }
    if (instantOf(to) < instantOf(start)) throw invalid("/due", BEGINS_LATER);
  }
  const line = text.find("DUE");
  const like = line !== undefined && due ? { line, start: due } : undefined;
  text.set("DUE", ...(to ? [timeLine("DUE", to, like)] : []));
  if (isSame) text.set("DTSTART", ...(to ? [timeLine("DTSTART", to, like)] : []));
  if (to) text.set("DURATION"); // only one of the two is allowed (RFC 5545, 3.6.2)
}
