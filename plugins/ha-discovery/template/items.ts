import type { Run } from "./run.ts";
import { isDict, isList, keyOf, kindOf, numberOf, TemplateError, type Value } from "./values.ts";

/**
 * The entry of a dict, list or text; undefined if it is missing.
 * @throws TemplateError for undefined
 */
export function item(value: Value, key: Value, run: Run): Value {
  run.step();
  if (value === undefined)
    throw new TemplateError(`${kindOf(value)} has no ${typeof key === "string" ? key : "items"}`);
  if (isDict(value)) return value.get(keyOf(key));
  const index = numberOf(key);
  if (index === undefined || !(isList(value) || typeof value === "string")) return undefined;
  return value.at(index);
}

/** The items of a loop: those of a list, the keys of a dict, or the characters of a text. */
export function itemsOf(value: Value, run: Run): readonly Value[] {
  if (isList(value)) return value;
  if (isDict(value)) return run.list([...value.keys()]);
  if (typeof value === "string") return run.list(Array.from(value));
  if (value === undefined) return [];
  throw new TemplateError(`${kindOf(value)} is not a list`);
}
