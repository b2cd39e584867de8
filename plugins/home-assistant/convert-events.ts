import { createHash } from "node:crypto";
import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk";
import { textIn } from "./attributes.ts";
import { record } from "./entities.ts";

/** Of one calendar in one window. */
const MOST_EVENTS = 5_000;
const TEXT_LENGTH = 4_000;
const COLORS = ["#2f6fde", "#1f9d72", "#d9822b", "#c44569", "#7a5af5", "#0e9aa7"] as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * The events of a calendar from Home Assistant's REST API, at most 5,000. Events without a possible start and end are
 * left out.
 */
export function eventsIn(answer: unknown, calendarId: string, timeZone: string): CalendarEvent[] {
  const events = new Map<string, CalendarEvent>();
  for (const each of Array.isArray(answer) ? answer : []) {
    if (events.size >= MOST_EVENTS) break;
    const event = eventOf(record(each), calendarId, timeZone);
    if (event) events.set(event.id, event);
  }
  return [...events.values()];
}

function eventOf(
  told: Readonly<Record<string, unknown>>,
  calendarId: string,
  timeZone: string,
): CalendarEvent | undefined {
  const start = boundIn(told["start"], timeZone);
  const end = boundIn(told["end"], timeZone);
  if (!start || !end || "date" in start !== "date" in end) return undefined;
  const text = (name: string) => textIn(told, name)?.slice(0, TEXT_LENGTH) ?? null;
  const title = text("summary") ?? "";
  const startText = "date" in start ? start.date : start.dateTime;
  const uid = text("uid") ?? hashOf(title, startText);
  return {
    id: hashOf(calendarId, uid, startText, title),
    calendarId,
    uid,
    recurrenceId: text("recurrence_id"),
    title,
    start,
    end,
    allDay: "date" in start,
    status: "confirmed",
    busy: true,
    location: text("location"),
    description: text("description"),
    url: null,
    color: null,
  };
}

function boundIn(value: unknown, timeZone: string): CalendarBound | undefined {
  const { date, dateTime } = record(value);
  if (isPossible(date, DATE)) return { date };
  return isPossible(dateTime, DATE_TIME) ? { dateTime, timeZone } : undefined;
}

const isPossible = (text: unknown, form: RegExp): text is string =>
  typeof text === "string" && form.test(text) && !Number.isNaN(Date.parse(text));

/** A colour for a calendar, always the same for the same id. */
export function colorOf(id: string): string {
  const [byte = 0] = createHash("sha256").update(id).digest();
  return COLORS[byte % COLORS.length] ?? COLORS[0];
}

function hashOf(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n")).digest("base64url").slice(0, 22);
}
