import { fillIn } from "@mantel/plugin-sdk/translate";
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals-core";

/** Texts by key. A text with placeholders is a function. */
export type Table = Readonly<Record<string, string | ((...values: never[]) => string)>>;
export type Translation<T extends Table> = {
  readonly [K in keyof T]?: T[K] extends string ? string : T[K];
};
type Texts = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, string | number>>;

/** The texts of a language pack, in the form in which the page uses them. */
export interface LanguagePack {
  /** True if it translates the dashboard, not only plugins. */
  readonly isTranslated: boolean;
  /** The texts of a table of the dashboard; keys without a valid translation are absent. */
  readonly table: <T extends Table>(name: string, english: T) => Partial<T>;
  /** Translations of the SDK's texts for devices, by English text. */
  readonly vocabulary: Texts;
  /** Translations of a plugin's texts, by plugin and English text. */
  readonly plugins: Readonly<Record<string, Texts>>;
  /** Fills in `{name}` and plurals. Returns a text that cannot be filled in unchanged. */
  readonly fill: (text: string, values: Values) => string;
}

const ENGLISH = "en";

const locale = signal(ENGLISH);
const pack = signal<LanguagePack | undefined>(undefined);

/** The current locale (BCP 47). Read it while drawing. */
export const currentLocale: ReadonlySignal<string> = locale;
/** The language pack in use; `undefined` if the page has the texts of the language itself. */
export const currentPack: ReadonlySignal<LanguagePack | undefined> = pack;

/** The texts that the page has of all tables loaded so far, by name of the table. */
export const tables = new Map<string, readonly [english: Table, translations: object]>();

/** Changes the language. Everything that read texts is drawn again. */
export function setLocale(tag: string, texts?: LanguagePack): void {
  batch(() => {
    pack.value = texts;
    locale.value = tag;
  });
}

/**
 * Texts in the current language; missing translations stay English. Language packs translate the
 * table by its name. Read it while drawing, so that a change of language draws again.
 */
export function translated<T extends Table>(
  name: string,
  english: T,
  translations: Readonly<Record<string, Translation<T>>> = {},
): ReadonlySignal<T> {
  tables.set(name, [english, translations]);
  return computed(() => ({
    ...english,
    ...translations[languageOf(locale.value)],
    ...pack.value?.table(name, english),
  }));
}

/** The title of a plugin in the current language. Read it while drawing. */
export function titleIn(plugin: string, title: string, titles: Texts = {}): string {
  const language = languageOf(locale.value);
  const said = own(titles, language);
  return pluginText(
    plugin,
    title,
    said === undefined ? {} : { texts: { [language]: { [title]: said } } },
  );
}

/**
 * A text of a plugin in the current language: from its language pack, else from its own `texts`,
 * else from the vocabulary, else English.
 */
export function pluginText(
  plugin: string,
  text: string,
  {
    texts = {},
    values = {},
  }: { readonly texts?: Readonly<Record<string, Texts>>; readonly values?: Values | undefined },
): string {
  const now = pack.value;
  const language = languageOf(locale.value);
  const said =
    own(own(now?.plugins, plugin), text) ??
    own(own(texts, language), text) ??
    own(now?.vocabulary, text) ??
    text;
  return now ? now.fill(said, values) : fillIn(said, values);
}

/** An own property only: names of devices and locales may be those of inherited properties. */
function own<V>(table: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return table && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The language of a locale, such as `de` of `de-AT`. */
export function languageOf(tag: string): string {
  return tag.toLowerCase().split("-")[0] ?? ENGLISH;
}
