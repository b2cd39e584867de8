import { translated } from "../i18n/language.ts";

const german = {
  "New event": "Neuer Termin",
  "Change event": "Termin ändern",
  "Join the meeting": "An der Besprechung teilnehmen",
  "What and when": "Was und wann",
  "Tomorrow 9 dentist": "Morgen 9 Uhr Zahnarzt",
  Details: "Einzelheiten",
  Title: "Titel",
  "All day": "Ganztägig",
  Start: "Beginn",
  End: "Ende",
  "Time zone": "Zeitzone",
  Place: "Ort",
  Repeat: "Wiederholen",
  Never: "Nie",
  "Every day": "Täglich",
  "Every week": "Wöchentlich",
  "Every month": "Monatlich",
  "Every year": "Jährlich",
  "This event": "Nur dieser Termin",
  "This and following": "Dieser und folgende",
  "All events": "Alle Termine",
  "Which events": "Welche Termine",
  Calendar: "Kalender",
  Add: "Hinzufügen",
  Save: "Speichern",
  Delete: "Löschen",
  Cancel: "Abbrechen",
  Close: "Schließen",
  "Somebody has changed this event meanwhile.": "Jemand hat diesen Termin inzwischen geändert.",
  "Show the new version": "Neuen Stand zeigen",
  "The end is before the start.": "Das Ende liegt vor dem Beginn.",
  "The event is saved": "Der Termin ist gespeichert",
  "The event is deleted": "Der Termin ist gelöscht",
} as const;

/** A text of the form, in English. */
export type Word = keyof typeof german;

const english = Object.fromEntries(Object.keys(german).map((word) => [word, word]));

/** The texts of the form by their English ones. */
export const words = translated("calendar", english as Record<Word, string>, { de: german });
