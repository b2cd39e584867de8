import { languageOf, speak } from "./language.ts";

const KEY = "mantel.locale";
/** The languages that the dashboard has tables for; in all others it speaks English. */
const TRANSLATED: readonly string[] = ["en", "de"];
const RIGHT_TO_LEFT: readonly string[] = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur"];

/** Speaks the language of the last visit, or the browser's, until the host was asked. */
export function speakRemembered(): void {
  speakOnPage(localStorage.getItem(KEY) ?? navigator.language);
}

/** Speaks the house's language from now on, and on the next visit from its start. */
export function rememberLocale(tag: string | undefined): void {
  if (tag === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, tag);
  speakOnPage(tag ?? navigator.language);
}

/** Dates and names may be in a language that has no table, so its direction counts all the same. */
function speakOnPage(tag: string): void {
  const language = languageOf(tag);
  const page = document.documentElement;
  page.lang = TRANSLATED.includes(language) ? tag : "en";
  page.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  speak(tag);
}
