import type { CalendarEvent } from "@mantel/plugin-sdk";
import { isProperty, parseProperty, type Property } from "./content-line.ts";
import { instantOf, type Moment } from "./moment.ts";
import { DAY_MS, toInstant } from "./zones.ts";

type Reminder = NonNullable<CalendarEvent["reminders"]>[number];

/** The time of an alarm: an instant, or a duration before (below 0) or after the start or end of its event. */
export type Trigger =
  | { readonly at: number }
  | { readonly related: "start" | "end"; readonly days: number; readonly ms: number };

/** Longer ones are taken for mistakes. */
const MAX_DAYS = 366;
const DURATION = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;

/** Reads TRIGGER lines (RFC 5545, 3.8.6.3). One that cannot be read is left out. */
export function parseTriggers(lines: readonly string[]): Trigger[] {
  return lines.filter(isProperty).flatMap((line) => parseTrigger(parseProperty(line)) ?? []);
}

function parseTrigger({ values, parameters }: Property): Trigger | undefined {
  const value = String(values[0] ?? "").trim();
  const isInstant = /^date-time$/i.test(parameters["value"] ?? "") || /^\d{4}-/.test(value);
  if (isInstant) return parseInstant(value);
  const duration = parseDuration(value);
  return duration && { ...duration, related: isEnd(parameters["related"]) ? "end" : "start" };
}

const isEnd = (related = "") => related.toUpperCase() === "END";

/** An instant must be in UTC. */
function parseInstant(value: string): Trigger | undefined {
  const at = /z$/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at };
}

/** A duration of RFC 5545, 3.3.6; `undefined` if it is none, or longer than a year. */
export function parseDuration(
  value: string,
): { readonly days: number; readonly ms: number } | undefined {
  const [found, sign, ...texts] = DURATION.exec(value) ?? [];
  if (found === undefined || texts.every((text) => text === undefined)) return undefined;
  const numbers = texts.map((text) => Number(text ?? 0));
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = numbers;
  const allDays = weeks * 7 + days;
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (allDays + ms / DAY_MS > MAX_DAYS) return undefined;
  return sign === "-" ? { days: -allDays, ms: -ms } : { days: allDays, ms };
}

/**
 * The reminders of one occurrence.
 * @param repeats true for an occurrence of a series, in which an instant does not say which one it belongs to
 */
export function remindersOf(
  triggers: readonly Trigger[],
  { start, end }: { readonly start: Moment; readonly end: Moment },
  repeats: boolean,
): Reminder[] {
  const reminders = triggers.flatMap((trigger): Reminder[] => {
    if (!("at" in trigger)) return [{ offsetMs: offsetOf(trigger, start, end) }];
    return repeats ? [] : [{ at: new Date(trigger.at).toISOString() }];
  });
  return [...new Map(reminders.map((each) => [JSON.stringify(each), each])).values()];
}

/** Days are counted on the clock of the event, and the rest as time that passes (RFC 5545, 3.3.6). */
function offsetOf(
  { related, days, ms }: Extract<Trigger, { related: string }>,
  start: Moment,
  end: Moment,
): number {
  const from = related === "start" ? start : end;
  const wall = from.wall + days * DAY_MS;
  if (from.allDay) return wall + ms - start.wall;
  const day = days === 0 ? instantOf(from) : toInstant(from.zone, wall);
  return day + ms - instantOf(start);
}
