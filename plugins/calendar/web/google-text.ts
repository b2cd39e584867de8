import type { Attendance } from "../ics/attendance.ts";
import { type CalendarObject, Component, escapeText, folded } from "../ics/edit-lines.ts";
import { timeLine } from "../ics/event-text.ts";
import type { Moment } from "../ics/moment.ts";
import { emptyObject, withZones } from "../ics/new-event.ts";
import { compact } from "../ics/zone-text.ts";

/** An event of a service, as far as it is shown. */
export interface CloudEvent {
  readonly uid: string;
  readonly start: Moment;
  readonly end: Moment;
  /** The start that its series gave it, if it is a changed occurrence. */
  readonly origin?: Moment | undefined;
  readonly title: string;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
  readonly url?: string | undefined;
  readonly busy: boolean;
  readonly status: "confirmed" | "tentative" | "cancelled";
  readonly isPrivate?: boolean | undefined;
  readonly color?: string | undefined;
  readonly categories?: readonly string[];
  /** The web address of its meeting. */
  readonly conference?: string | undefined;
  /** The answer of the account's user to the invitation. */
  readonly attendance?: { readonly address: string; readonly answer: Attendance } | undefined;
  /** Minutes before the start. */
  readonly reminders?: readonly number[];
  readonly modifiedAt?: string | undefined;
  /** RRULE, RDATE and EXDATE lines. */
  readonly repetitions?: readonly string[];
  /** SEQUENCE, LAST-MODIFIED and CREATED of the last change that was made here. */
  readonly stamp?: string | undefined;
}

const STAMPS = /^(?:SEQUENCE|LAST-MODIFIED|CREATED):[\dTZ]{1,20}$/;
const MAX_REMINDERS = 10;

/** The iCalendar object of an event, or of a series with its changed occurrences. */
export function objectText(events: readonly CloudEvent[]): CalendarObject {
  return emptyObject().with(events.map(componentOf));
}

/** The same with descriptions of the zones, for an object that may go to another calendar. */
export function objectBytes(events: readonly CloudEvent[]): Buffer {
  return withZones(
    objectText(events),
    events.flatMap(({ start, end }) => [start, end]),
  ).bytes;
}

function componentOf(event: CloudEvent): Component {
  const { start, end, origin, title, busy, status, modifiedAt } = event;
  const at = Date.parse(modifiedAt ?? "");
  const lines = [
    "BEGIN:VEVENT",
    `UID:${escapeText(event.uid)}`,
    ...(Number.isNaN(at) ? [] : [`DTSTAMP:${compact(at)}Z`]),
    ...stampsIn(event.stamp),
    ...(origin ? [timeLine("RECURRENCE-ID", origin)] : []),
    timeLine("DTSTART", start),
    timeLine("DTEND", end),
    ...(event.repetitions ?? []).map((line) => line.replaceAll(/[\r\n]/g, "")),
    `SUMMARY:${escapeText(title)}`,
    ...text("LOCATION", event.location),
    ...text("DESCRIPTION", event.description),
    ...(event.url && URL.canParse(event.url) ? [`URL:${new URL(event.url).href}`] : []),
    ...(busy ? [] : ["TRANSP:TRANSPARENT"]),
    ...(status === "confirmed" ? [] : [`STATUS:${status.toUpperCase()}`]),
    ...(event.isPrivate ? ["CLASS:PRIVATE"] : []),
    ...text("COLOR", event.color),
    ...text("CATEGORIES", ...(event.categories ?? [])),
    ...conferenceLine(event.conference),
    ...attendeeLine(event.attendance),
    ...(event.reminders ?? []).slice(0, MAX_REMINDERS).flatMap(alarm),
    "END:VEVENT",
  ];
  return new Component(lines.map((line) => folded(line)));
}

function text(name: string, ...values: readonly (string | undefined)[]): string[] {
  const all = values.flatMap((value) => (value ? [value] : []));
  return all.length === 0 ? [] : [`${name}:${all.map((value) => escapeText(value)).join(",")}`];
}

function stampsIn(stamp = ""): string[] {
  return stamp.split("\n").filter((line) => STAMPS.test(line));
}

function conferenceLine(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  return [`CONFERENCE;VALUE=URI;FEATURE=VIDEO:${new URL(address).href}`];
}

function attendeeLine(attendance: CloudEvent["attendance"]): string[] {
  if (!attendance || !/^[^\s@:;,"]+@[^\s@:;,"]+$/.test(attendance.address)) return [];
  return [`ATTENDEE;PARTSTAT=${attendance.answer.toUpperCase()}:mailto:${attendance.address}`];
}

function alarm(minutes: number): string[] {
  const trigger = `TRIGGER:-PT${Math.max(0, Math.round(minutes))}M`;
  return ["BEGIN:VALARM", "ACTION:DISPLAY", trigger, "END:VALARM"];
}
