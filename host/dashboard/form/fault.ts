import { choicesOf, type Control, controlOf, type FieldSchema } from "./schema.ts";
import type { words } from "./words.ts";

type Words = typeof words.value;

/**
 * Explains to the user why a value does not match its schema; `undefined` if it matches or is
 * absent. Items of lists and groups are checked by their own fields. The host checks patterns and
 * the rules of the plugin.
 */
export function faultOf(schema: FieldSchema, value: unknown, say: Words): string | undefined {
  if (value === undefined) return undefined;
  const choices = choicesOf(schema);
  if (choices) {
    return choices.some((each) => each.value === value) ? undefined : say.notOffered(shown(value));
  }
  return CHECKS[controlOf(schema)](schema, value, say);
}

type Check = (schema: FieldSchema, value: unknown, say: Words) => string | undefined;

const text: Check = (schema, value, say) =>
  typeof value === "string" ? lengthFault(schema, value, say) : say.notText;
const anything: Check = () => undefined;

const CHECKS: Readonly<Record<Control, Check>> = {
  text,
  lines: text,
  device: text,
  room: text,
  color: text,
  icon: text,
  choice: anything,
  secret: anything,
  json: anything,
  number: (schema, value, say) =>
    typeof value === "number" ? rangeFault(schema, value, say) : say.notNumber,
  switch: (_schema, value, say) =>
    typeof value === "boolean" ? undefined : say.notSwitch(shown(value)),
  list: (schema, value, say) =>
    Array.isArray(value) ? countFault(schema, value, say) : say.notList,
  choices: (schema, value, say) =>
    Array.isArray(value) ? countFault(schema, value, say) : say.notList,
  group: (_schema, value, say) => (isRecord(value) ? undefined : say.notGroup),
  map: ({ maxProperties = Infinity }, value, say) => {
    if (!isRecord(value)) return say.notGroup;
    return Object.keys(value).length > maxProperties ? say.tooMany(maxProperties) : undefined;
  },
};

function rangeFault(
  { minimum = -Infinity, maximum = Infinity, type }: FieldSchema,
  value: number,
  say: Words,
): string | undefined {
  if (value < minimum) return say.atLeast(minimum);
  if (value > maximum) return say.atMost(maximum);
  return type === "integer" && !Number.isInteger(value) ? say.notWhole : undefined;
}

function lengthFault(
  { minLength = 0, maxLength = Infinity }: FieldSchema,
  value: string,
  say: Words,
): string | undefined {
  if (value.length < minLength) return say.tooShort(minLength);
  return value.length > maxLength ? say.tooLong(maxLength) : undefined;
}

function countFault(
  { maxItems = Infinity }: FieldSchema,
  value: readonly unknown[],
  say: Words,
): string | undefined {
  return value.length > maxItems ? say.tooMany(maxItems) : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const whole = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return whole.length > 40 ? `${whole.slice(0, 40)}…` : whole;
}
