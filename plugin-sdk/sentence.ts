import { fillIn } from "./translate.ts";

/** A user-facing sentence that language packs can translate. */
export interface Sentence {
  /** Stays the same when the text is reworded, such as `private_address`. */
  readonly code: string;
  /** English, with placeholders such as `{host}`. Language packs have the translation under this text. */
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

const LONGEST_CODE = 60;
const LONGEST_TEXT = 500;
const LONGEST_VALUE = 1_000;
const MOST_VALUES = 10;

export function sentence(code: string, text: string, values: Sentence["values"] = {}): Sentence {
  return { code, text, values };
}

/** The sentence in English. */
export function inEnglish({ text, values }: Sentence): string {
  return fillIn(text, values);
}

/** True for data from outside that is a sentence of limited length. */
export function isSentence(data: unknown): data is Sentence {
  const { code, text, values } = (data ?? {}) as { readonly [K in keyof Sentence]?: unknown };
  if (!isText(code, LONGEST_CODE) || !isText(text, LONGEST_TEXT)) return false;
  if (typeof values !== "object" || values === null) return false;
  const all: unknown[] = Object.values(values);
  return (
    all.length <= MOST_VALUES &&
    all.every((each) => typeof each === "number" || isText(each, LONGEST_VALUE))
  );
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === "string" && value.length <= longest;
}
