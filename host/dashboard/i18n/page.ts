import { languageOf, setLocale } from "./language.ts";

const KEY = "mantel.locale";
/** Languages with translations; all others use English. */
const TRANSLATED: readonly string[] = ["en", "de"];
const RIGHT_TO_LEFT: readonly string[] = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur"];

/** Uses the language of the last visit, or of the browser, until the host answers. */
export function useRememberedLocale(): void {
  setPageLocale(localStorage.getItem(KEY) ?? navigator.language);
}

/** Uses the language of the home from now on and at the start of the next visit. */
export function rememberLocale(tag: string | undefined): void {
  if (tag === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, tag);
  setPageLocale(tag ?? navigator.language);
}

/**
 * The direction is set even for a language without translations, because dates and names may use
 * it.
 */
function setPageLocale(tag: string): void {
  const language = languageOf(tag);
  const page = document.documentElement;
  page.lang = TRANSLATED.includes(language) ? tag : "en";
  page.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  setLocale(tag);
}
