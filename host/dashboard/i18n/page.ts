import { lasting } from "../page-storage.ts";
import { type LanguagePack, languageOf, setLocale } from "./language.ts";

const KEY = "mantel.locale";
const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur)$/;

type LoadPack = (tag: string) => Promise<LanguagePack | undefined>;

let loadPack: LoadPack | undefined;
/** The locale that the page has, or loads now. */
let wanted = "";

/** Uses the language of the last visit, or of the browser, until the host answers. */
export function useRememberedLocale(): void {
  wanted = lasting.get(KEY) ?? navigator.language;
  setPageLocale(wanted);
}

/** Loads language packs from now on. Resolves when the texts of the current language are there. */
export function useLanguagePacks(load: LoadPack): Promise<void> {
  loadPack = load;
  return change(wanted);
}

/** Uses the language of the home from now on and at the start of the next visit. */
export function rememberLocale(tag: string | undefined): void {
  lasting.set(KEY, tag);
  const next = tag ?? navigator.language;
  if (next !== wanted) void change(next);
}

/** The page keeps its language until the texts of the next one are there. */
async function change(tag: string): Promise<void> {
  wanted = tag;
  const isInPage = languageOf(tag) === "en" || !loadPack;
  const pack = isInPage ? undefined : await loadPack?.(tag);
  if (tag === wanted) setPageLocale(tag, pack);
}

/**
 * The direction is set even for a language without translations, because dates and names may use
 * it.
 */
function setPageLocale(tag: string, pack?: LanguagePack): void {
  const language = languageOf(tag);
  const page = document.documentElement;
  page.lang = pack?.isTranslated || /^(de|en)$/.test(language) ? tag : "en";
  page.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
  setLocale(tag, pack);
}
