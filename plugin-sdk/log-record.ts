import { inspect } from "node:util";
import type { LogFields } from "./context.ts";

/** Characters of a record's sentence, and of its fields as JSON. */
const LONGEST = 4_000;

/** As much of a sentence as a log keeps. */
export function boundedSentence(sentence: unknown): string {
  return String(sentence).slice(0, LONGEST);
}

/**
 * Fields as a log keeps them: errors are text, because JSON leaves nothing of them; what is no JSON at
 * all is too. Fields that are too long together become the beginning of their text.
 */
export function boundedFields(fields: LogFields): LogFields {
  const plain = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) return [name, value.stack ?? String(value)];
      return [name, toJson(value) === undefined ? inspect(value) : value];
    }),
  );
  const text = toJson(plain) ?? "";
  return text.length <= LONGEST ? plain : { cut: text.slice(0, LONGEST) };
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return undefined; // a BigInt, or an object that holds itself
  }
}
