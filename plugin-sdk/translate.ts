import type { Texts } from "./i18n.ts";

interface Said {
  readonly texts?: Texts;
  /** BCP 47, such as `de-AT`. Only its language is used. */
  readonly locale: string;
  readonly values?: Readonly<Record<string, string | number>> | undefined;
}

/**
 * Translates an English text and fills in `{name}`. Without a translation it stays English; without
 * a value the placeholder stays.
 */
export function translate(text: string, { texts = {}, locale, values = {} }: Said): string {
  const [language = ""] = locale.toLowerCase().split("-");
  const table = own(texts, language) ?? {};
  return fillIn(own(table, text) ?? text, values);
}

/** Replaces `{name}` by `values.name`. Without a value the placeholder stays. */
export function fillIn(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = own(values, name);
    return value === undefined ? whole : `${value}`;
  });
}

/**
 * Own properties only: a mode or field of a device may be named like a property of every object.
 */
function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
