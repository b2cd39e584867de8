import { inspect } from "node:util";
import type { LogFields } from "./context.ts";

/** Maximum characters of a record's sentence, and of its fields as JSON. */
const LONGEST = 4_000;

/** Cuts a sentence to the maximum length. */
export function boundedSentence(sentence: unknown): string {
  return String(sentence).slice(0, LONGEST);
}

/**
 * Converts fields for the log. Errors become text, because JSON drops their message and stack; so do values that
 * JSON cannot represent. Fields that are too long together are replaced by `cut`, the beginning of their JSON.
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
    return undefined; // a BigInt, or a circular object
  }
}
