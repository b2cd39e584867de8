import { escapeText } from "../ics/edit-lines.ts";
import { timeLine } from "../ics/event-text.ts";
import type { Moment } from "../ics/moment.ts";
import { findZone, toWall, UTC } from "../ics/zones.ts";

/** The fields that are asked for. */
export const GRAPH_FIELDS =
  "id,changeKey,type,transactionId,subject,body,start,end,isAllDay,isCancelled,showAs,location,categories,responseStatus,isReminderOn,reminderMinutesBeforeStart,onlineMeeting,onlineMeetingUrl,lastModifiedDateTime,originalStartTimeZone,originalEndTimeZone";

/** The fields of an event of Microsoft Graph 1.0 that are read. */
export interface GraphEvent {
  readonly id: string;
  readonly changeKey?: string;
  /** `singleInstance`, `seriesMaster`, `occurrence` or `exception`. */
  readonly type?: string;
  /** Given by the program that has created the event, if at all. */
  readonly transactionId?: string | null;
  readonly subject?: string | null;
  readonly body?: { readonly content?: string };
  readonly start: GraphTime;
  readonly end: GraphTime;
  readonly isAllDay?: boolean;
  readonly isCancelled?: boolean;
  readonly showAs?: string;
  readonly location?: { readonly displayName?: string };
  readonly categories?: readonly string[];
  readonly responseStatus?: { readonly response?: string };
  readonly isReminderOn?: boolean;
  readonly reminderMinutesBeforeStart?: number;
  readonly onlineMeeting?: { readonly joinUrl?: string } | null;
  readonly onlineMeetingUrl?: string | null;
  readonly lastModifiedDateTime?: string;
  /** The zone in which it was entered, mostly by its Windows name. */
  readonly originalStartTimeZone?: string | null;
  readonly originalEndTimeZone?: string | null;
}

/** A time in UTC, as it was asked for; of an all-day event its day counts. */
interface GraphTime {
  readonly dateTime: string;
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/;
const LONGEST_TEXT = 50_000;
const MOST_CATEGORIES = 20;

/** The user's answers by the words of Graph (RFC 5545, 3.2.12). An organizer has none. */
const ANSWERS: Readonly<Record<string, string>> = {
  accepted: "ACCEPTED",
  tentativelyAccepted: "TENTATIVE",
  declined: "DECLINED",
  notResponded: "NEEDS-ACTION",
};

/** True for an event with an id and times; other fields may have any form. */
export function isGraphEvent(data: object): data is GraphEvent {
  const { id, start, end } = data as Record<string, unknown>;
  return addressText(id) !== undefined && hasTime(start) && hasTime(end);
}

function hasTime(data: unknown): boolean {
  const { dateTime } = (data ?? {}) as { readonly dateTime?: unknown };
  const text = typeof dateTime === "string" ? dateTime : "";
  return TIME.test(text) && !Number.isNaN(Date.parse(`${text.slice(0, 19)}Z`));
}

/** A text that may be part of an address: without blanks and control characters, of limited length. */
export function addressText(data: unknown): string | undefined {
  return typeof data === "string" && /^[\x21-\x7e]{1,1000}$/.test(data) ? data : undefined;
}

/**
 * An occurrence as a calendar object (RFC 5545). Fields of another form are left out.
 * @param address the mail address of the user, whose answer is shown
 */
export function objectOf(event: GraphEvent, address: string | undefined): string {
  const { isCancelled, showAs } = event;
  const [start, end] = momentsOf(event);
  const meeting = addressText(event.onlineMeeting?.joinUrl) ?? addressText(event.onlineMeetingUrl);
  const answer = ANSWERS[String(event.responseStatus?.response)];
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Mantel//Calendar//EN",
    "BEGIN:VEVENT",
    `UID:${uidOf(event)}`,
    `DTSTAMP:${timeOf(event.lastModifiedDateTime ?? "") ?? timeOf(event.start.dateTime) ?? ""}`,
    timeLine("DTSTART", start),
    timeLine("DTEND", end),
    ...textLine("SUMMARY", event.subject),
    ...textLine("LOCATION", event.location?.displayName),
    ...textLine("DESCRIPTION", event.body?.content),
    ...categoriesLine(event.categories),
    ...(isCancelled === true ? ["STATUS:CANCELLED"] : []),
    ...(isCancelled !== true && showAs === "tentative" ? ["STATUS:TENTATIVE"] : []),
    ...(showAs === "free" || showAs === "workingElsewhere" ? ["TRANSP:TRANSPARENT"] : []),
    ...(meeting === undefined ? [] : [`CONFERENCE;VALUE=URI:${meeting}`]),
    ...(answer && addressText(address) ? [`ATTENDEE;PARTSTAT=${answer}:mailto:${address}`] : []),
    ...alarmLines(event),
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return `${lines.join("\r\n")}\r\n`;
}

/** An event keeps the UID with which it was created here; one of an other program has the id of its request. */
function uidOf({ id, type, transactionId }: GraphEvent): string {
  const isWhole = type === "singleInstance" || type === "seriesMaster";
  return (isWhole ? addressText(transactionId) : undefined) ?? id;
}

/** Start and end, each on the clock of the zone in which it was entered. */
export function momentsOf(event: GraphEvent): [start: Moment, end: Moment] {
  const { start, end, isAllDay, originalStartTimeZone, originalEndTimeZone } = event;
  const momentOf = ({ dateTime }: GraphTime, name: unknown): Moment => {
    const text = dateTime.slice(0, 19);
    if (isAllDay === true) {
      return { allDay: true, wall: Date.parse(text.slice(0, 10)), zone: UTC };
    }
    const zone = (typeof name === "string" ? findZone(name) : undefined) ?? UTC;
    return { allDay: false, wall: toWall(zone, Date.parse(`${text}Z`)), zone };
  };
  return [momentOf(start, originalStartTimeZone), momentOf(end, originalEndTimeZone)];
}

function timeOf(dateTime: string): string | undefined {
  const [whole, year, month, day, hour, minute, second] = TIME.exec(dateTime) ?? [];
  return whole && `${year}${month}${day}T${hour}${minute}${second}Z`;
}

function textLine(name: string, value: unknown): string[] {
  if (typeof value !== "string" || value.trim() === "") return [];
  return [`${name}:${escapeText(value.trim().slice(0, LONGEST_TEXT))}`];
}

function categoriesLine(categories: unknown): string[] {
  const names = (Array.isArray(categories) ? categories : [])
    .filter((each) => typeof each === "string" && each !== "")
    .slice(0, MOST_CATEGORIES);
  return names.length === 0
    ? []
    : [`CATEGORIES:${names.map((each) => escapeText(each)).join(",")}`];
}

function alarmLines({ isReminderOn, reminderMinutesBeforeStart: minutes }: GraphEvent): string[] {
  if (isReminderOn !== true || typeof minutes !== "number" || !Number.isInteger(minutes)) return [];
  const before = minutes < 0 ? `PT${-minutes}M` : `-PT${minutes}M`;
  return ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:-", `TRIGGER:${before}`, "END:VALARM"];
}
