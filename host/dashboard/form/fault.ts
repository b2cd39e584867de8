import { choicesOf, type Control, controlOf, type FieldSchema } from "./schema.ts";
import type { words } from "./words.ts";

type Words = typeof words.value;

/**
 * Explains to the user why a value does not match its schema; `undefined` if it matches or is
 * absent. Items of lists and groups are checked by their own fields. The host checks patterns and
 * the rules of the plugin.
 */
export function faultOf(schema: FieldSchema, value: unknown, texts: Words): string | undefined {
  if (value === undefined) return undefined;
  const choices = choicesOf(schema);
  if (choices) {
    return choices.some((each) => each.value === value)
      ? undefined
      : texts.notOffered(shown(value));
  }
  return CHECKS[controlOf(schema)](schema, value, texts);
}

type Check = (schema: FieldSchema, value: unknown, texts: Words) => string | undefined;

const text: Check = (schema, value, texts) =>
  typeof value === "string" ? lengthFault(schema, value, texts) : texts.notText;
const anything: Check = () => undefined;

const CHECKS: Readonly<Record<Control, Check>> = {
  text,
  date: text,
  time: text,
  lines: text,
  device: text,
  room: text,
  named: text,
  color: text,
  icon: text,
  choice: anything,
  secret: anything,
  json: anything,
  number: (schema, value, texts) =>
    typeof value === "number" ? rangeFault(schema, value, texts) : texts.notNumber,
  switch: (_schema, value, texts) =>
    typeof value === "boolean" ? undefined : texts.notBoolean(shown(value)),
  list: (schema, value, texts) =>
    Array.isArray(value) ? countFault(schema, value, texts) : texts.notList,
  choices: (schema, value, texts) =>
    Array.isArray(value) ? countFault(schema, value, texts) : texts.notList,
  group: (_schema, value, texts) => (isRecord(value) ? undefined : texts.notGroup),
  map: ({ maxProperties = Infinity }, value, texts) => {
    if (!isRecord(value)) return texts.notGroup;
    return Object.keys(value).length > maxProperties ? texts.tooMany(maxProperties) : undefined;
  },
};

function rangeFault(
  { minimum = -Infinity, maximum = Infinity, type }: FieldSchema,
  value: number,
  texts: Words,
): string | undefined {
  if (value < minimum) return texts.atLeast(minimum);
  if (value > maximum) return texts.atMost(maximum);
  return type === "integer" && !Number.isInteger(value) ? texts.notInteger : undefined;
}

function lengthFault(
  { minLength = 0, maxLength = Infinity }: FieldSchema,
  value: string,
  texts: Words,
): string | undefined {
  if (value.length < minLength) return texts.tooShort(minLength);
  return value.length > maxLength ? texts.tooLong(maxLength) : undefined;
}

function countFault(
  { maxItems = Infinity }: FieldSchema,
  value: readonly unknown[],
  texts: Words,
): string | undefined {
  return value.length > maxItems ? texts.tooMany(maxItems) : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const json = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return json.length > 40 ? `${json.slice(0, 40)}…` : json;
}
