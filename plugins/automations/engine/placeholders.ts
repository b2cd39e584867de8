import type { TriggerEvent } from "./automation.ts";
import { isRecord } from "./values.ts";

/** `{trigger.payload}`, `{trigger.body.level}`, `{variable.count}`. */
export const PLACEHOLDER = /\{(trigger|variable)((?:\.[\w-]{1,60}){1,6})\}/;
const ALL = new RegExp(PLACEHOLDER, "g");
const WHOLE = new RegExp(`^${PLACEHOLDER.source}$`);
const LONGEST_TEXT = 10_000;

interface Given {
  readonly trigger: TriggerEvent;
  readonly variable: (name: string) => Promise<unknown>;
}

/** True for plain data with a placeholder. */
export function hasPlaceholder(value: unknown): boolean {
  return PLACEHOLDER.test(JSON.stringify(value));
}

/**
 * Plain data with values in place of placeholders. A text that is nothing but a placeholder becomes the value; in other
 * texts it is written. A value that does not exist is an empty text.
 */
export async function filled<T>(value: T, given: Given): Promise<T> {
  return (await fill(value, given)) as T;
}

async function fill(value: unknown, given: Given): Promise<unknown> {
  if (typeof value === "string") return fillText(value, given);
  if (Array.isArray(value)) return Promise.all(value.map((each) => fill(each, given)));
  if (!isRecord(value)) return value;
  const fields: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) fields.push([name, await fill(each, given)]);
  return Object.fromEntries(fields);
}

async function fillText(text: string, given: Given): Promise<unknown> {
  const whole = WHOLE.exec(text);
  if (whole) return (await valueAt(whole[1], whole[2], given)) ?? "";
  let written = "";
  let end = 0;
  for (const match of text.matchAll(ALL)) {
    const value = await valueAt(match[1], match[2], given);
    written += text.slice(end, match.index) + textOf(value);
    end = match.index + match[0].length;
  }
  return (written + text.slice(end)).slice(0, LONGEST_TEXT);
}

async function valueAt(
  kind: string | undefined,
  path = "",
  { trigger, variable }: Given,
): Promise<unknown> {
  const [, first = "", ...rest] = path.split(".");
  if (kind === "variable") return variable(first);
  let value = own(trigger, first);
  for (const name of rest) value = own(value, name);
  return value;
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
