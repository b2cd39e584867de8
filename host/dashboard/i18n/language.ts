import { computed, type ReadonlySignal, signal } from "@preact/signals-core";

/** Texts by key. A text with placeholders is a function. */
type Table = Readonly<Record<string, string | ((...values: never[]) => string)>>;
export type Translation<T extends Table> = {
  readonly [K in keyof T]?: T[K] extends string ? string : T[K];
};

const ENGLISH = "en";

const locale = signal(ENGLISH);

/** The current locale (BCP 47). Read it while drawing. */
export const currentLocale: ReadonlySignal<string> = locale;

/** Changes the language. Everything that read texts is drawn again. */
export function setLocale(tag: string): void {
  locale.value = tag;
}

/**
 * Texts in the current language; missing translations stay English. Read it while drawing, so that
 * a change of language draws again.
 */
export function translated<T extends Table>(
  english: T,
  translations: Readonly<Record<string, Translation<T>>>,
): ReadonlySignal<T> {
  return computed(() => ({ ...english, ...translations[languageOf(locale.value)] }));
}

/** The title of a plugin in the current language. Read it while drawing. */
export function titleIn(title: string, titles: Readonly<Record<string, string>> = {}): string {
  const language = languageOf(locale.value);
  return Object.hasOwn(titles, language) ? (titles[language] ?? title) : title;
}

/** The language of a locale, such as `de` of `de-AT`. */
export function languageOf(tag: string): string {
  return tag.toLowerCase().split("-")[0] ?? ENGLISH;
}
