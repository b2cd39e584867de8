import type { Buffer } from "node:buffer";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";

/**
 * True if a text of this JSON may contain a lone surrogate: encoded as bytes it becomes another text,
 * and a file that contains it cannot be read again. Bytes of UTF-8 cannot contain one, so only an
 * escape can (RFC 8259, 8.2).
 */
export function mayContainLoneSurrogates(json: Buffer): boolean {
  return json.includes("\\ud") || json.includes("\\uD");
}

/** The same value with U+FFFD in place of each lone surrogate. Arrays and objects are changed in place. */
export function replaceLoneSurrogates(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = replaceLoneSurrogates(item);
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (entries.every(([key]) => key.isWellFormed())) {
    for (const [key, item] of entries)
      if (typeof item !== "number") set(value, key, replaceLoneSurrogates(item));
    return value;
  }
  return Object.fromEntries(
    entries.map(([key, item]) => [key.toWellFormed(), replaceLoneSurrogates(item)]),
  );
}

function set(object: object, key: string, value: unknown): void {
  if (key !== "__proto__") Object.assign(object, { [key]: value });
  else Object.defineProperty(object, key, { value });
}

/** The location of the first lone surrogate, in a text or in a key. */
export function findLoneSurrogate(value: unknown, pointer = ""): Fault | undefined {
  if (typeof value === "string" && !value.isWellFormed()) return fault(pointer, "is a text");
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!key.isWellFormed()) return fault(pointer, "has a key");
    const found = findLoneSurrogate(item, `${pointer}/${pointerToken(key)}`);
    if (found) return found;
  }
  return undefined;
}

function fault(pointer: string, what: string): Fault {
  return { pointer, detail: `${what} with half a character (a lone surrogate, U+D800 to U+DFFF)` };
}
