import { createHash } from "node:crypto";
import type { CalendarEvent } from "@mantel/plugin-sdk";
import type { Settings } from "./options.ts";

export interface DisplayOptions extends Pick<
  Settings,
  "colors" | "include" | "exclude" | "hideDeclined" | "private"
> {
  /** Replacement for a hidden title. */
  readonly busyWord: string;
}

/** The events of a calendar as far as its settings let them be seen. */
export function shownEvents(
  events: readonly CalendarEvent[],
  showing: DisplayOptions,
): readonly CalendarEvent[] {
  const worded = withWords(events, showing);
  // a private calendar cannot show that somebody declined, only that the time is taken
  const shown =
    showing.hideDeclined || showing.private
      ? worded.filter(({ attendance }) => attendance !== "declined")
      : worded;
  if (showing.private) return shown.map((event) => hidden(event, showing.busyWord));
  return inColors(shown, Object.entries(showing.colors ?? {}));
}

/** The events, those whose title or category has a word in its colour. */
function inColors(
  events: readonly CalendarEvent[],
  colors: readonly (readonly [word: string, color: string])[],
): readonly CalendarEvent[] {
  if (colors.length === 0) return events;
  return events.map((event) => {
    const texts = [event.title, ...(event.categories ?? [])];
    const found = colors.find(([word]) => texts.some((text) => hasWord(text, [word])));
    return found ? { ...event, color: found[1].toLowerCase() } : event;
  });
}

/** The events or tasks whose titles have the right words. */
export function withWords<T extends { readonly title: string }>(
  all: readonly T[],
  { include = [], exclude = [] }: Pick<Settings, "include" | "exclude">,
): readonly T[] {
  let shown = all;
  if (include.length > 0) shown = shown.filter(({ title }) => hasWord(title, include));
  if (exclude.length > 0) shown = shown.filter(({ title }) => !hasWord(title, exclude));
  return shown;
}

/** Also inside a longer word, because languages put words together; whatever the case and accents are made of. */
function hasWord(text: string, words: readonly string[]): boolean {
  const comparableText = comparable(text);
  return words.some((word) => comparableText.includes(comparable(word)));
}

const comparable = (text: string) => text.normalize("NFKC").toLowerCase();

/** Ids contain data of the feed, such as a room or a person, so they are replaced too. */
function hidden(event: CalendarEvent, title: string): CalendarEvent {
  const digest = (text: string) =>
    createHash("sha256").update(text).digest("base64url").slice(0, 22);
  const { id, uid, calendarId, recurrenceId, start, end, allDay, status, busy } = event;
  return {
    id: `${calendarId}/${digest(id)}`,
    calendarId,
    uid: digest(uid),
    recurrenceId,
    title,
    start,
    end,
    allDay,
    status,
    busy,
    location: null,
    description: null,
    url: null,
    color: null,
  };
}

const BUSY: Readonly<Record<string, string>> = {
  da: "Optaget",
  de: "Belegt",
  en: "Busy",
  es: "Ocupado",
  fi: "Varattu",
  fr: "Occupé",
  it: "Occupato",
  nb: "Opptatt",
  nl: "Bezet",
  pl: "Zajęte",
  pt: "Ocupado",
  sv: "Upptagen",
};

/** The word for a time that is taken, in the language of a locale (BCP 47) where it is known. */
export function busyWord(locale: string): string {
  const [language = ""] = locale.toLowerCase().split("-");
  return (Object.hasOwn(BUSY, language) ? BUSY[language] : undefined) ?? "Busy";
}
