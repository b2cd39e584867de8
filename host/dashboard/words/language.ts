import { computed, type ReadonlySignal, signal } from "@preact/signals-core";

/** Texts by key. One that has something to fill in is a function of it. */
type Table = Readonly<Record<string, string | ((...values: never[]) => string)>>;
export type Translation<T extends Table> = {
  readonly [K in keyof T]?: T[K] extends string ? string : T[K];
};

const ENGLISH = "en";

const locale = signal(ENGLISH);

/** The locale that is spoken (BCP 47). Read it where things are drawn. */
export const spokenLocale: ReadonlySignal<string> = locale;

/** Speaks another language from now on: what has read words is drawn again. */
export function speak(tag: string): void {
  locale.value = tag;
}

/**
 * One part's texts in the language that is spoken; what a translation lacks stays English. Read it
 * where things are drawn, so that they are drawn again in another language.
 */
export function inEachLanguage<T extends Table>(
  english: T,
  translations: Readonly<Record<string, Translation<T>>>,
): ReadonlySignal<T> {
  return computed(() => ({ ...english, ...translations[languageOf(locale.value)] }));
}

/** The language of a locale, such as `de` of `de-AT`. */
export function languageOf(tag: string): string {
  return tag.toLowerCase().split("-")[0] ?? ENGLISH;
}
