import type { IncomingHttpHeaders } from "node:http";
import { findZone, toInstant, UTC } from "../../plugins/calendar/ics/zones.ts";
import { json, type Reply } from "./oauth-provider.ts";

export type GraphFields = Readonly<Record<string, unknown>>;

interface Time {
  readonly dateTime: string;
  readonly timeZone: string;
}

interface Recurrence {
  readonly pattern: GraphFields;
  readonly range: GraphFields;
}

/** Some of the names in the reference (`dateTimeTimeZone`). */
const ZONES = new Set(["UTC", "W. Europe Standard Time", "Pacific Standard Time"]);
const WEEK_MS = 7 * 86_400_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Fields that Mantel may write, each with its form in the reference of the resource `event`. */
const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  subject: (value) => typeof value === "string" && value.length <= 255,
  body: (value) => isObject(value, ["contentType", "content"]) && value["contentType"] === "text",
  location: (value) => isObject(value, ["displayName"]),
  showAs: (value) =>
    ["free", "tentative", "busy", "oof", "workingElsewhere"].includes(String(value)),
  isAllDay: (value) => typeof value === "boolean",
  start: isTime,
  end: isTime,
  transactionId: (value) => typeof value === "string" && value.length <= 100,
  recurrence: isRecurrence,
};

/** Fields that each type of a pattern needs; others are refused (resource `recurrencePattern`). */
const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  daily: [],
  weekly: ["daysOfWeek", "firstDayOfWeek"],
  absoluteMonthly: ["dayOfMonth"],
  relativeMonthly: ["daysOfWeek", "index"],
  absoluteYearly: ["dayOfMonth", "month"],
  relativeYearly: ["daysOfWeek", "index", "month"],
};
const RANGES: Readonly<Record<string, readonly string[]>> = {
  noEnd: [],
  endDate: ["endDate"],
  numbered: ["numberOfOccurrences"],
};

export function fault(status: number, code: string): Reply {
  return json({ error: { code, message: "as the service says" } }, status);
}

/** The fields of a request, or the answer to one with an unknown or wrong field. */
export function fieldsIn(
  headers: IncomingHttpHeaders,
  body: string,
  isNew: boolean,
): { fields: GraphFields } | { refused: Reply } {
  if (!/^application\/json(;|$)/.test(headers["content-type"] ?? "")) {
    return { refused: fault(415, "RequestBodyRead") };
  }
  const fields = JSON.parse(body) as GraphFields;
  const isWrong = Object.entries(fields).some(([name, value]) => !FORMS[name]?.(value));
  const { start, end, isAllDay, transactionId, recurrence } = fields;
  const lacksTimes = start === undefined || end === undefined;
  const isHalf = (start === undefined) !== (end === undefined);
  const isLate = !isNew && (transactionId !== undefined || recurrence !== undefined);
  if (isWrong || isHalf || isLate || (isNew && lacksTimes)) {
    return { refused: fault(400, "ErrorInvalidRequest") };
  }
  if (!lacksTimes && !isSpan(start as Time, end as Time, isAllDay === true)) {
    return { refused: fault(400, "ErrorPropertyValidationFailure") };
  }
  return { fields };
}

/** The fields as they are told: times in UTC, and the zone of their entry beside them. */
export function asTold({ start, end, transactionId, ...fields }: GraphFields): GraphFields {
  return {
    ...fields,
    ...(transactionId === undefined ? {} : { transactionId }),
    ...(start ? { start: inUtc(start as Time, fields) } : {}),
    ...(end ? { end: inUtc(end as Time, fields) } : {}),
    ...(start ? { originalStartTimeZone: (start as Time).timeZone } : {}),
    ...(end ? { originalEndTimeZone: (end as Time).timeZone } : {}),
  };
}

/** The occurrences of a new series, weekly ones with a number. */
export function occurrencesOf(master: GraphFields, recurrence: Recurrence): GraphFields[] {
  const { pattern, range } = recurrence;
  const count = pattern["type"] === "weekly" ? Number(range["numberOfOccurrences"] ?? 1) : 1;
  const moved = (bound: Time, weeks: number): Time => {
    const at = Date.parse(`${bound.dateTime.slice(0, 19)}Z`) + weeks * WEEK_MS;
    return { ...bound, dateTime: `${new Date(at).toISOString().slice(0, 19)}.0000000` };
  };
  return Array.from({ length: count }, (_, week) => ({
    ...master,
    id: `${String(master["id"])}.${week}`,
    changeKey: `${String(master["changeKey"])}.${week}`,
    type: "occurrence",
    transactionId: null,
    seriesMasterId: master["id"],
    start: moved(master["start"] as Time, week),
    end: moved(master["end"] as Time, week),
  }));
}

function inUtc({ dateTime, timeZone }: Time, { isAllDay }: GraphFields): Time {
  const wall = Date.parse(`${dateTime}Z`);
  const at = isAllDay ? wall : toInstant(findZone(timeZone) ?? UTC, wall);
  return { dateTime: `${new Date(at).toISOString().slice(0, 19)}.0000000`, timeZone: "UTC" };
}

function isTime(value: unknown): boolean {
  if (!isObject(value, ["dateTime", "timeZone"])) return false;
  const { dateTime, timeZone } = value as unknown as Time;
  const isZone = ZONES.has(timeZone);
  return isZone && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(dateTime);
}

function isSpan(start: Time, end: Time, isAllDay: boolean): boolean {
  const isMidnight = [start, end].every(({ dateTime }) => dateTime.endsWith("T00:00:00"));
  if (isAllDay) {
    return isMidnight && start.timeZone === end.timeZone && start.dateTime < end.dateTime;
  }
  return inUtc(start, {}).dateTime <= inUtc(end, {}).dateTime;
}

function isRecurrence(value: unknown): boolean {
  if (!isObject(value, ["pattern", "range"])) return false;
  const { pattern, range } = value as unknown as Recurrence;
  const needed = PATTERNS[String(pattern["type"])];
  const bounds = RANGES[String(range["type"])];
  if (!needed || !isObject(pattern, ["type", "interval", ...needed])) return false;
  if (!bounds || !isObject(range, ["type", "startDate", "recurrenceTimeZone", ...bounds]))
    return false;
  const { daysOfWeek = [], firstDayOfWeek = "sunday", index = "first", interval } = pattern;
  const days = [daysOfWeek, firstDayOfWeek].flat();
  return (
    days.every((day) => DAYS.includes(String(day))) &&
    ["first", "second", "third", "fourth", "last"].includes(String(index)) &&
    Number(interval) >= 1 &&
    DATE.test(String(range["startDate"])) &&
    DATE.test(String(range["endDate"] ?? range["startDate"]))
  );
}

/** True for an object with exactly these fields. */
function isObject(value: unknown, names: readonly string[]): value is GraphFields {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).toSorted().join() === names.toSorted().join();
}
