import type { StateValue } from "@mantel/plugin-sdk";
import type { Form } from "./feature.ts";

const TEXT_LENGTH = 1_000;

/** A value without a better form: texts as they are, and others as JSON. */
export const TEXT: Form = {
  capability: { type: "text" },
  read: toText,
  write: (value) => value,
};

export function toText(raw: unknown): StateValue {
  if (raw === null || raw === undefined) return null;
  const text = typeof raw === "string" ? raw : JSON.stringify(raw);
  return text.slice(0, TEXT_LENGTH);
}
