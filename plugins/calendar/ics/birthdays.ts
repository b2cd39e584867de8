import { createHash } from "node:crypto";
import { type CalendarEvent, MantelError, type Sentence, sentence } from "@mantel/plugin-sdk";
import type { CalendarMarking } from "../view.ts";
import type { Expansion } from "./feed.ts";
import type { Span } from "./series.ts";
import type { Contact, Contacts } from "./vcard.ts";
import { DAY_MS } from "./zones.ts";

/** Maximum number of birthdays. */
const MAX_BIRTHDAYS = 5_000;
/** Days begin 14 hours before UTC in Kiribati, and end 12 hours after it on Baker Island. */
const EARLIEST_START_MS = 14 * 3_600_000;
const LATEST_END_MS = DAY_MS + 12 * 3_600_000;
/** A leap year, in which every day of a year exists. */
const ANY_YEAR = 2000;

const CUT = sentence("contact_cut", "a contact ends in the middle: END:VCARD is missing");

/** The birthdays of contacts: a day every year, with the age where the year of birth is known. */
export class Birthdays {
  readonly name = undefined;
  readonly color = undefined;
  readonly remark = undefined;
  readonly #people = new Map<string, Person>();
  readonly #faults: Sentence[] = [];

  /** @throws MantelError `invalid` for too many */
  constructor(files: readonly Contacts[]) {
    for (const { contacts, cut } of files) {
      for (const contact of contacts) this.#add(contact);
      for (let n = 0; n < cut; n++) this.#faults.push(CUT);
    }
  }

  #add(contact: Contact): void {
    if (!contact.birthday) return;
    const born = parseBirthday(contact);
    if (born) this.#people.set(uidOf(contact), { ...born, name: contact.name });
    else this.#faults.push(notADate(contact.birthday));
    if (this.#people.size <= MAX_BIRTHDAYS) return;
    const values = { most: MAX_BIRTHDAYS };
    throw new MantelError(
      "invalid",
      sentence("too_many_birthdays", "there are over {most} birthdays", values),
    );
  }

  /** The birthdays that may overlap a span in any time zone. */
  async eventsIn({ from, to }: Span, marking: CalendarMarking): Promise<Expansion> {
    const events: CalendarEvent[] = [];
    const [after, before] = [from - LATEST_END_MS, to + EARLIEST_START_MS];
    for (const [uid, person] of this.#people) {
      for (let year = yearOf(after); year <= yearOf(before); year++) {
        const day = dayIn(year, person);
        if (day <= after || day >= before || year < (person.year ?? year)) continue;
        events.push(eventOn(day, { ...person, uid }, marking));
      }
    }
    const [reason] = this.#faults;
    return { events, skipped: this.#faults.length, simplified: 0, reason, isPartial: false };
  }
}

function notADate(text: string): Sentence {
  return sentence("not_a_date", "{text} is not a date", { text: text.slice(0, 40) });
}

interface Birthday {
  /** Absent if unknown. */
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

interface Person extends Birthday {
  readonly name: string;
}

/** `19960415`, `1996-04-15`, `--0415` and `--04-15`, each with or without a time (RFC 6350, 4.3). */
const DATE = /^(?:(\d{4})-?|--)(\d\d)-?(\d\d)(?:[T ].*)?$/i;

function parseBirthday({ birthday = "", omittedYear }: Contact): Birthday | undefined {
  const [, written, month, day] = DATE.exec(birthday) ?? [];
  const year = written === undefined || written === omittedYear ? undefined : Number(written);
  const found = { year, month: Number(month), day: Number(day) };
  const date = new Date(utc(year ?? ANY_YEAR, found));
  const exists = date.getUTCMonth() === found.month - 1 && date.getUTCDate() === found.day;
  return exists ? found : undefined;
}

/** Midnight of the day in a year: February 29 is the last of February where it does not exist. */
function dayIn(year: number, birthday: Birthday): number {
  const instant = utc(year, birthday);
  return new Date(instant).getUTCDate() === birthday.day ? instant : instant - DAY_MS;
}

function utc(year: number, { month, day }: Birthday): number {
  return new Date(0).setUTCFullYear(year, month - 1, day); // Date.UTC takes year 50 for 1950
}

/** Stays the same for the same contact. */
function uidOf({ uid, name, birthday }: Contact): string {
  const hash = createHash("sha256").update(JSON.stringify(uid ?? [name, birthday]));
  return `birthday-${hash.digest("hex").slice(0, 24)}`;
}

function eventOn(
  day: number,
  { uid, name, year }: Person & { readonly uid: string },
  { calendarId, color }: CalendarMarking,
): CalendarEvent {
  const date = dateOf(day);
  const age = yearOf(day) - (year ?? yearOf(day));
  return {
    id: `${calendarId}/${uid}/${date}`,
    calendarId,
    uid,
    color,
    recurrenceId: date,
    title: age > 0 ? `🎂 ${name} (${age})` : `🎂 ${name}`,
    start: { date },
    end: { date: dateOf(day + DAY_MS) },
    allDay: true,
    status: "confirmed",
    busy: false,
    location: null,
    description: null,
    url: null,
  };
}

const yearOf = (instant: number) => new Date(instant).getUTCFullYear();
const dateOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
