import { createHash } from "node:crypto";
import { type Contact, parseContacts } from "./vcard.ts";

/** Birthdays as a calendar (RFC 5545), and what a calendar cannot say of them. */
export interface Birthdays {
  readonly calendar: Uint8Array;
  /** The years of birth that are known, by the UID of the event. */
  readonly years: ReadonlyMap<string, number>;
  /** Birthdays that could not be read. */
  readonly skipped: number;
  /** Why the first of them could not. */
  readonly reason: string | undefined;
}

/** A leap year, from which birthdays without a year are counted. */
const ANY_YEAR = 2000;

/** The birthdays of vCards: a day every year. February 29 is the last of February in other years. */
export function birthdaysOf(bytes: Uint8Array): Birthdays {
  const events = new Map<string, string>();
  const years = new Map<string, number>();
  const faults: string[] = [];
  for (const contact of parseContacts(bytes)) {
    if (!contact.birthday) continue;
    const day = parseBirthday(contact);
    if (!day) {
      faults.push(`${contact.birthday.slice(0, 40)} is no day of a year`);
      continue;
    }
    const uid = uidOf(contact);
    events.set(uid, eventOf(uid, contact.name, day));
    if (day.year !== undefined) years.set(uid, day.year);
  }
  const lines = ["BEGIN:VCALENDAR", ...events.values(), "END:VCALENDAR", ""];
  const calendar = Buffer.from(lines.join("\n"));
  return { calendar, years, skipped: faults.length, reason: faults[0] };
}

interface Day {
  /** Absent when nobody said it. */
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

/** `19960415`, `1996-04-15`, `--0415` and `--04-15`, each with or without a time (RFC 6350, 4.3). */
const DATE = /^(?:(\d{4})-?|--)(\d\d)-?(\d\d)(?:[T ].*)?$/i;

function parseBirthday({ birthday = "", omittedYear }: Contact): Day | undefined {
  const [, written, month, day] = DATE.exec(birthday) ?? [];
  const year = written === undefined || written === omittedYear ? undefined : Number(written);
  const found = { year, month: Number(month), day: Number(day) };
  const date = new Date(Date.UTC(year ?? ANY_YEAR, found.month - 1, found.day));
  date.setUTCFullYear(year ?? ANY_YEAR); // years below 100 would be taken for 1900 and later
  const exists = date.getUTCMonth() === found.month - 1 && date.getUTCDate() === found.day;
  return exists ? found : undefined;
}

/** The same at the next reading of the same contact. */
function uidOf({ uid, name, birthday }: Contact): string {
  const hash = createHash("sha256").update(JSON.stringify(uid ?? [name, birthday]));
  return `birthday-${hash.digest("hex").slice(0, 24)}`;
}

function eventOf(uid: string, name: string, { year = ANY_YEAR, month, day }: Day): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const leap = month === 2 && day === 29;
  return [
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `DTSTART;VALUE=DATE:${String(year).padStart(4, "0")}${two(month)}${two(day)}`,
    leap ? "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" : "RRULE:FREQ=YEARLY",
    `SUMMARY:🎂 ${escapeText(name)}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ].join("\n");
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ");
}
