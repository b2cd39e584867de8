import type { NewCalendarEvent } from "@mantel/plugin-sdk";
import { DAY_MS, toInstant, toWall, type Zone } from "./ics/zones.ts";

/** The words of a language for days and times, in lower case. */
interface PhraseWords {
  readonly days: Readonly<Record<string, number>>;
  /** From Sunday. Each has its usual forms. */
  readonly weekdays: readonly (readonly string[])[];
  /** From January. */
  readonly months: readonly (readonly string[])[];
  /** Words that mean nothing beside a day or time. */
  readonly fillers: readonly string[];
  /** Words before a time, such as `at`. */
  readonly at: readonly string[];
  /** Words after an hour, such as `Uhr`. */
  readonly hour: readonly string[];
  /** Words between a start and an end. */
  readonly until: readonly string[];
  readonly noon: readonly string[];
}

const LANGUAGES: Readonly<Record<string, PhraseWords>> = {
  en: {
    days: { today: 0, tonight: 0, tomorrow: 1, "day after tomorrow": 2 },
    weekdays: [
      ["sunday", "sun"],
      ["monday", "mon"],
      ["tuesday", "tue", "tues"],
      ["wednesday", "wed"],
      ["thursday", "thu", "thurs"],
      ["friday", "fri"],
      ["saturday", "sat"],
    ],
    months: [
      ["january", "jan"],
      ["february", "feb"],
      ["march", "mar"],
      ["april", "apr"],
      ["may"],
      ["june", "jun"],
      ["july", "jul"],
      ["august", "aug"],
      ["september", "sept", "sep"],
      ["october", "oct"],
      ["november", "nov"],
      ["december", "dec"],
    ],
    fillers: ["on", "next", "this", "the", "of"],
    at: ["at", "from"],
    hour: ["o'clock"],
    until: ["to", "until", "till"],
    noon: ["noon"],
  },
  de: {
    days: { heute: 0, morgen: 1, übermorgen: 2 },
    weekdays: [
      ["sonntag", "so"],
      ["montag", "mo"],
      ["dienstag", "di"],
      ["mittwoch", "mi"],
      ["donnerstag", "do"],
      ["freitag", "fr"],
      ["samstag", "sonnabend", "sa"],
    ],
    months: [
      ["januar", "jänner", "jan"],
      ["februar", "feb"],
      ["märz", "mär"],
      ["april", "apr"],
      ["mai"],
      ["juni", "jun"],
      ["juli", "jul"],
      ["august", "aug"],
      ["september", "sept", "sep"],
      ["oktober", "okt"],
      ["november", "nov"],
      ["dezember", "dez"],
    ],
    fillers: ["am", "nächsten", "kommenden", "diesen", "den"],
    at: ["um", "von", "ab"],
    hour: ["uhr", "h"],
    until: ["bis"],
    noon: ["mittags"],
  },
  fr: {
    days: { "aujourd'hui": 0, demain: 1, "après-demain": 2 },
    weekdays: [
      ["dimanche", "dim"],
      ["lundi", "lun"],
      ["mardi", "mar"],
      ["mercredi", "mer"],
      ["jeudi", "jeu"],
      ["vendredi", "ven"],
      ["samedi", "sam"],
    ],
    months: [
      ["janvier", "janv"],
      ["février", "févr"],
      ["mars"],
      ["avril", "avr"],
      ["mai"],
      ["juin"],
      ["juillet", "juil"],
      ["août"],
      ["septembre", "sept"],
      ["octobre", "oct"],
      ["novembre", "nov"],
      ["décembre", "déc"],
    ],
    fillers: ["le", "ce", "prochain"],
    at: ["à", "de", "dès"],
    hour: ["heures", "heure", "h"],
    until: ["à", "jusqu'à"],
    noon: ["midi"],
  },
  es: {
    days: { hoy: 0, mañana: 1, "pasado mañana": 2 },
    weekdays: [
      ["domingo", "dom"],
      ["lunes", "lun"],
      ["martes", "mar"],
      ["miércoles", "mié"],
      ["jueves", "jue"],
      ["viernes", "vie"],
      ["sábado", "sáb"],
    ],
    months: [
      ["enero", "ene"],
      ["febrero", "feb"],
      ["marzo"],
      ["abril", "abr"],
      ["mayo"],
      ["junio", "jun"],
      ["julio", "jul"],
      ["agosto", "ago"],
      ["septiembre", "setiembre", "sept"],
      ["octubre", "oct"],
      ["noviembre", "nov"],
      ["diciembre", "dic"],
    ],
    fillers: ["el", "este", "próximo", "de"],
    at: ["a las", "a la", "de", "desde las"],
    hour: ["horas", "h"],
    until: ["a", "a las", "hasta las"],
    noon: ["mediodía"],
  },
  it: {
    days: { oggi: 0, domani: 1, dopodomani: 2 },
    weekdays: [
      ["domenica", "dom"],
      ["lunedì", "lun"],
      ["martedì", "mar"],
      ["mercoledì", "mer"],
      ["giovedì", "gio"],
      ["venerdì", "ven"],
      ["sabato", "sab"],
    ],
    months: [
      ["gennaio", "gen"],
      ["febbraio", "feb"],
      ["marzo"],
      ["aprile", "apr"],
      ["maggio", "mag"],
      ["giugno", "giu"],
      ["luglio", "lug"],
      ["agosto", "ago"],
      ["settembre", "sett", "set"],
      ["ottobre", "ott"],
      ["novembre", "nov"],
      ["dicembre", "dic"],
    ],
    fillers: ["il", "questo", "prossimo"],
    at: ["alle", "all'", "dalle", "ore"],
    hour: ["h"],
    until: ["alle", "fino alle"],
    noon: ["mezzogiorno"],
  },
};

/** Where and when a phrase is said. */
export interface PhraseContext {
  /** BCP 47. */
  readonly locale: string;
  readonly zone: Zone;
  readonly now: number;
}

/**
 * The event that a phrase means, such as `Tomorrow 9 dentist`; `undefined` if it names no day and no time, or nothing
 * else. Times without a day that are over today are those of tomorrow. Understands English everywhere, and German,
 * French, Spanish and Italian in a home of that language.
 */
export function parsePhrase(phrase: string, context: PhraseContext): NewCalendarEvent | undefined {
  const [language = ""] = context.locale.toLowerCase().split("-");
  const own = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined;
  for (const words of new Set([own, LANGUAGES["en"]])) {
    const event = words && parseIn(words, phrase.normalize("NFC").trim(), context);
    if (event) return event;
  }
  return undefined;
}

/** A phrase whose parts are taken out one by one. */
class Phrase {
  #text: string;

  constructor(text: string) {
    this.#text = ` ${text.replaceAll(/\s+/g, " ")} `;
  }

  /** Takes out the first match of a pattern of whole words. */
  take(pattern: string): readonly (string | undefined)[] | undefined {
    const match = new RegExp(`(?<=[\\s,])(?:${pattern})(?=[\\s,.;!]|$)`, "iu").exec(this.#text);
    if (!match) return undefined;
    const end = match.index + match[0].length;
    this.#text = `${this.#text.slice(0, match.index)} ${this.#text.slice(end)}`;
    return match;
  }

  get rest(): string {
    return this.#text.replaceAll(/\s+/g, " ").replaceAll(/^[\s,;:.-]+|[\s,;:-]+$/g, "");
  }
}

function parseIn(words: PhraseWords, text: string, context: PhraseContext) {
  const phrase = new Phrase(text);
  const wall = toWall(context.zone, context.now);
  const today = Math.floor(wall / DAY_MS) * DAY_MS;
  const day = takeDay(phrase, words, today);
  const times = takeTimes(phrase, words, day !== undefined);
  const title = phrase.rest;
  if ((day === undefined && !times) || title === "") return undefined;
  const named = `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
  if (!times)
    return { title: named, start: { date: new Date(day ?? today).toISOString().slice(0, 10) } };
  const isOver = day === undefined && today + times.start * 60_000 <= wall;
  const midnight = (day ?? today) + (isOver ? DAY_MS : 0);
  const end = times.end !== undefined && times.end <= times.start ? times.end + 24 * 60 : times.end;
  return {
    title: named,
    start: boundAt(midnight + times.start * 60_000, context.zone),
    ...(end === undefined ? {} : { end: boundAt(midnight + end * 60_000, context.zone) }),
  };
}

function takeDay(phrase: Phrase, words: PhraseWords, today: number): number | undefined {
  const filler = `(?:(?:${alternatives(words.fillers)}) )*`;
  const relative = phrase.take(filler + `(${alternatives(Object.keys(words.days))})`);
  if (relative) return today + (words.days[relative[1]?.toLowerCase() ?? ""] ?? 0) * DAY_MS;
  const months = alternatives(words.months.flat());
  const dated =
    phrase.take(
      `${filler}(\\d{1,2})(?:\\.|st|nd|rd|th|er|º|°)? (?:(?:de|of) )?(${months})\\.?(?: (\\d{4}))?`,
    ) ??
    swapped(phrase.take(`${filler}(${months})\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?`));
  if (dated) return dateOf(Number(dated[1]), indexOf(words.months, dated[2]), dated[3], today);
  const numeric = phrase.take(`${filler}(\\d{1,2})[./](\\d{1,2})[./](\\d{4})?`);
  if (numeric) return dateOf(Number(numeric[1]), Number(numeric[2]) - 1, numeric[3], today);
  const weekday = phrase.take(`${filler}(${alternatives(words.weekdays.flat())})`);
  if (!weekday) return undefined;
  const ahead = (indexOf(words.weekdays, weekday[1]) - new Date(today).getUTCDay() + 7) % 7;
  return today + (ahead === 0 ? 7 : ahead) * DAY_MS;
}

function swapped(match: readonly (string | undefined)[] | undefined) {
  return match && [match[0], match[2], match[1], match[3]];
}

/** The next day with this date; `undefined` for one that does not exist. */
function dateOf(
  day: number,
  month: number,
  year: string | undefined,
  today: number,
): number | undefined {
  const first = new Date(today).getUTCFullYear();
  for (const each of year === undefined ? [first, first + 1] : [Number(year)]) {
    const date = new Date(Date.UTC(each, month, day));
    const exists = date.getUTCMonth() === month && date.getUTCDate() === day;
    if (exists && (year !== undefined || date.getTime() >= today)) return date.getTime();
  }
  return undefined;
}

/** Start and end in minutes of the day. A bare number is an hour only beside a day, or after a word such as `at`. */
function takeTimes(phrase: Phrase, words: PhraseWords, hasDay: boolean) {
  const at = `(?:(?:${alternatives(words.at)}) ?)`;
  const until = `(?: ?[-–] ?| (?:${alternatives(words.until)}) )`;
  const suffix = `(?: ?(am|pm)| ?(?:${alternatives(words.hour)})(\\d\\d)?)`;
  const time = (isBare: boolean) =>
    `(\\d{1,2})(?:(?:[:.](\\d\\d))${suffix}?|${suffix}${isBare ? "?" : ""})`;
  const noon = phrase.take(`${at}?(?:${alternatives(words.noon)})`);
  if (noon) return { start: 12 * 60, end: undefined };
  const match =
    phrase.take(`${at}?${time(true)}${until}${time(true)}`) ??
    phrase.take(`${at}${time(true)}`) ??
    phrase.take(time(hasDay));
  if (!match) return undefined;
  const [first, second] = [match.slice(1, 7), match.slice(7, 13)];
  const hasEnd = second[0] !== undefined;
  const start = minutesIn(first, hasEnd ? (second[2] ?? second[4]) : undefined);
  const end = hasEnd ? minutesIn(second) : undefined;
  return start === undefined ? undefined : { start, end };
}

/** The minutes of the day of an hour, a minute, and twice am or pm with the minutes after the word for hours. */
function minutesIn(parts: readonly (string | undefined)[], otherHalf?: string): number | undefined {
  const [hour = "", minute, half, minuteAfter, otherwise, other] = parts;
  const isHalf = (half ?? otherwise ?? otherHalf ?? "").toLowerCase();
  const minutes = Number(minute ?? minuteAfter ?? other ?? 0);
  const hours = isHalf === "" ? Number(hour) : (Number(hour) % 12) + (isHalf === "pm" ? 12 : 0);
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : undefined;
}

function boundAt(wall: number, zone: Zone): NewCalendarEvent["start"] {
  const dateTime = `${new Date(toInstant(zone, wall)).toISOString().slice(0, 19)}Z`;
  return { dateTime, timeZone: zone.name };
}

/** The longer words first, because a shorter one may be a part of them. */
function alternatives(words: readonly string[]): string {
  return words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
}

function indexOf(lists: readonly (readonly string[])[], word: string | undefined): number {
  return lists.findIndex((each) => each.includes(word?.toLowerCase() ?? ""));
}
