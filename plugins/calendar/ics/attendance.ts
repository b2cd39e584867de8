import type { CalendarEvent } from "@mantel/plugin-sdk";
import { isProperty, parseProperty, type Property } from "./content-line.ts";

export type Attendance = NonNullable<CalendarEvent["attendance"]>;

/** PARTSTAT of events (RFC 5545, 3.2.12). An answer by one address counts more than none by another. */
const ANSWERS = ["accepted", "tentative", "declined", "delegated", "needs-action"] as const;

/** A mail address in the form in which it is compared, also of a `mailto:` URI (RFC 6068). */
export function mailAddress(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^mailto:/, "");
}

/**
 * The answer of a person to an invitation; `undefined` if the person is not invited.
 * @param attendees ATTENDEE lines (RFC 5545, 3.8.4.1); one that cannot be read is left out
 * @param addresses of the person, as `mailAddress` writes them
 */
export function attendanceOf(
  attendees: readonly string[],
  addresses: readonly string[],
): Attendance | undefined {
  const answers = attendees
    .filter((line) => isLikely(line, addresses) && isProperty(line))
    .map(parseProperty)
    .filter((attendee) => isOneOf(addresses, attendee))
    .map(answerOf);
  return ANSWERS.find((each) => answers.includes(each));
}

/** A fast check, because large meetings have hundreds of attendees. */
function isLikely(line: string, addresses: readonly string[]): boolean {
  const lower = line.toLowerCase();
  return addresses.some((address) => lower.includes(address));
}

/** iCloud has addresses that are not for mail as values, and the one for mail in EMAIL (RFC 7986, 6.2). */
function isOneOf(addresses: readonly string[], { values, parameters }: Property): boolean {
  const own = [String(values[0] ?? ""), parameters["email"] ?? ""].map(mailAddress);
  return own.some((address) => addresses.includes(address));
}

/** Without PARTSTAT, and for unknown ones, an answer is needed (RFC 5545, 3.2.12). */
function answerOf({ parameters }: Property): Attendance {
  const given = parameters["partstat"]?.toLowerCase();
  return ANSWERS.find((each) => each === given) ?? "needs-action";
}
