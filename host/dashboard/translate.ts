import type { Texts } from "@mantel/plugin-sdk/speech";

interface Said {
  readonly texts?: Texts;
  /** BCP 47, such as `de-AT`; its language alone decides. */
  readonly locale: string;
  readonly values?: Readonly<Record<string, string | number>> | undefined;
}

/**
 * An English text in another language, with `{name}` filled in; what has no translation stays English,
 * and what has no value stays as it is.
 */
export function translate(text: string, { texts = {}, locale, values = {} }: Said): string {
  const [language = ""] = locale.toLowerCase().split("-");
  const table = own(texts, language) ?? {};
  return (own(table, text) ?? text).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = own(values, name);
    return value === undefined ? whole : `${value}`;
  });
}

/** Modes and fields that devices name may be called like something that every object has. */
function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
