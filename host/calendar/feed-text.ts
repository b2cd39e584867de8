import { createHash } from "node:crypto";
import type { CalendarBound, CalendarEvent } from "@mantel/plugin-sdk/calendar";

const LINE_OCTETS = 75;

/**
 * The lines of one occurrence as a VEVENT (RFC 5545, 3.6.1), as one text before and one after its
 * DTSTAMP. It has its own UID, because its series is already expanded.
 *
 * @param category the name of its calendar
 */
export function eventText(event: CalendarEvent, category: string): [string, string] {
  const { title, location, description, url, busy, status, categories = [], conference } = event;
  return [
    lines(["BEGIN:VEVENT", `UID:${uidOf(event)}`]),
    lines([
      `DTSTART${timeOf(event.start)}`,
      ...(sameTime(event.start, event.end) ? [] : [`DTEND${timeOf(event.end)}`]),
      `SUMMARY:${escapeText(title)}`,
      ...(location === null ? [] : [`LOCATION:${escapeText(location)}`]),
      ...(description === null ? [] : [`DESCRIPTION:${escapeText(description)}`]),
      ...(url === null ? [] : [`URL:${withoutSpaces(url)}`]),
      ...(conference === undefined ? [] : [`CONFERENCE;VALUE=URI:${withoutSpaces(conference)}`]),
      `STATUS:${status.toUpperCase()}`,
      `TRANSP:${busy ? "OPAQUE" : "TRANSPARENT"}`,
      `CATEGORIES:${[category, ...categories].map(escapeText).join(",")}`,
      "END:VEVENT",
    ]),
  ];
}

/** The text before all events. Clients that support it read the feed again after `refreshMinutes`. */
export function feedHead(name: string, refreshMinutes: number): string {
  return lines([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Mantel//Calendar//EN",
    "CALSCALE:GREGORIAN",
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    `REFRESH-INTERVAL;VALUE=DURATION:PT${refreshMinutes}M`,
    `X-PUBLISHED-TTL:PT${refreshMinutes}M`,
  ]);
}

export function timestampLine(instant: number): string {
  return lines([`DTSTAMP:${compact(instant)}`]);
}

export const FEED_END = "END:VCALENDAR\r\n";

/** True for valid bounds; a date or time that does not exist cannot be written. */
export function hasValidBounds({ start, end }: CalendarEvent): boolean {
  return [start, end].every(
    (bound) => !("dateTime" in bound) || !Number.isNaN(Date.parse(bound.dateTime)),
  );
}

/** The same at every reading of the same occurrence, and short even if the feed's own UID is long. */
function uidOf({ id }: CalendarEvent): string {
  return `${createHash("sha256").update(id).digest("hex").slice(0, 32)}@mantel`;
}

/** Times in UTC, which needs no time zone description; clients show them in their own zone. */
function timeOf(bound: CalendarBound): string {
  if ("date" in bound) return `;VALUE=DATE:${bound.date.replaceAll("-", "")}`;
  return `:${compact(Date.parse(bound.dateTime))}`;
}

/** The last second that can be written (3.3.5) also stands for the few later hours that zones behind UTC have. */
const compact = (instant: number) =>
  `${new Date(Math.min(instant, LAST_SECOND)).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59);

/** True if start and end are written the same; such an end is omitted, as it must be later (RFC 5545, 3.8.2.2). */
function sameTime(start: CalendarBound, end: CalendarBound): boolean {
  return timeOf(start) === timeOf(end);
}

/** RFC 5545, 3.3.11. Removes control characters, which a text must not have. */
function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(CONTROLS, "")
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll("\n", "\\n");
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

const withoutSpaces = (url: string) => url.replaceAll(CONTROLS, "").replaceAll(/\s/g, "");

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${fold(text)}\r\n`).join("");
}

/** Cuts a line into pieces of 75 octets, and never inside a character (RFC 5545, 3.1). */
function fold(line: string): string {
  if (line.length * 3 <= LINE_OCTETS || Buffer.byteLength(line) <= LINE_OCTETS) return line;
  let folded = "";
  let room = LINE_OCTETS;
  for (const character of line) {
    const octets = Buffer.byteLength(character);
    if (octets > room) {
      folded += "\r\n ";
      room = LINE_OCTETS - 1;
    }
    folded += character;
    room -= octets;
  }
  return folded;
}
