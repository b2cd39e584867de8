import type { Run } from "./run.ts";
import {
  compare,
  isDict,
  isEqual,
  isList,
  keyOf,
  kindOf,
  TemplateError,
  type Value,
} from "./values.ts";

type Comparison = (left: Value, right: Value, run: Run) => boolean;

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ["==", isEqual],
  ["!=", (left, right, run) => !isEqual(left, right, run)],
  ["<", (left, right) => compare(left, right) < 0],
  [">", (left, right) => compare(left, right) > 0],
  ["<=", (left, right) => compare(left, right) <= 0],
  [">=", (left, right) => compare(left, right) >= 0],
  ["in", contains],
  ["not in", (left, right, run) => !contains(left, right, run)],
]);

/** The comparison that is written so. */
export function comparison(operator: string): Comparison {
  const found = COMPARISONS.get(operator);
  if (found) return found;
  throw new TemplateError(`${operator} does not compare`);
}

/**
 * Python's `value in container`.
 * @throws TemplateError if the container cannot hold such a value
 */
export function contains(value: Value, container: Value, run: Run): boolean {
  if (isDict(container)) return container.has(keyOf(value));
  if (isList(container)) {
    return container.some((each) => isEqual(each, value, run));
  }
  if (typeof container === "string" && typeof value === "string") {
    run.fits(container.length);
    return container.includes(value);
  }
  if (container === undefined) return false;
  throw new TemplateError(`${kindOf(value)} cannot be in ${kindOf(container)}`);
}
