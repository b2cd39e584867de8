import type { Moment } from "./moment.ts";

/**
 * A number that Python would call a float although it is whole, such as the 12.0 in `12 / 1`. All other
 * numbers are plain: whole ones are ints, those with decimals floats.
 */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export type Dict = ReadonlyMap<Value, Value>;

/**
 * The values of a template. A template cannot access any properties except the entries of a `Dict`,
 * so no path leads from a value to an object of the host. `undefined` is Jinja's undefined,
 * `null` is None.
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | string
  | Float
  | Moment
  | readonly Value[]
  | Dict;

const LONGEST_MESSAGE = 200;

/** An error in a template or its input, with a user-facing message. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";

  constructor(message: string, options?: ErrorOptions) {
    super(message.slice(0, LONGEST_MESSAGE), options);
  }
}

/** A template, or one of its values, has too many levels. */
export class NestingError extends TemplateError {
  /** @param what a noun phrase, such as "the template" */
  constructor(what: string) {
    super(`${what} is nested too deeply`);
  }
}

/** A template has used up what one rendering may. */
export class ExhaustedError extends TemplateError {}

/** Deeper JSON is refused; no device nests like this. */
const DEEPEST = 32;

/** JSON as templates see it. @throws TemplateError when it is nested too deeply */
export function fromJson(json: unknown, depth = 0): Value {
  if (depth > DEEPEST) throw new NestingError("the JSON");
  if (Array.isArray(json)) return json.map((each) => fromJson(each, depth + 1));
  if (typeof json !== "object" || json === null) return json as Value;
  return new Map(Object.entries(json).map(([key, value]) => [key, fromJson(value, depth + 1)]));
}

/** The number that a value is, as Python counts: True is 1. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  return value instanceof Float ? value.value : undefined;
}

export function isFloat(value: Value): boolean {
  return value instanceof Float || (typeof value === "number" && !Number.isInteger(value));
}

/** The result of an operation whose result is a float. */
export function float(value: number): Value {
  return Number.isInteger(value) ? new Float(value) : value;
}

export function isDict(value: Value): value is Dict {
  return value instanceof Map;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Python's `bool(value)`. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null || value === "") return false;
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  if (isList(value)) return value.length > 0;
  return isDict(value) ? value.size > 0 : true;
}

/** The key under which a dict keeps a value: 1, 1.0 and True are one key. */
export function keyOf(value: Value): Value {
  return numberOf(value) ?? value;
}

/** Counts what a comparison does, which may go deep into lists of lists. */
interface Counter {
  step(count?: number): void;
  nested<T>(work: () => T): T;
}

/** Python's `left == right`. */
export function isEqual(left: Value, right: Value, counter: Counter): boolean {
  counter.step();
  const number = numberOf(left);
  if (number !== undefined) return number === numberOf(right);
  const same = (a: Value, b: Value) => counter.nested(() => isEqual(a, b, counter));
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((each, index) => same(each, right[index]));
  }
  if (isDict(left) && isDict(right)) {
    return (
      left.size === right.size &&
      [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)))
    );
  }
  return left === right;
}

/** Less than 0 when `left` comes before `right`. @throws TemplateError for what has no order */
export function compare(left: Value, right: Value): number {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a - b;
  if (typeof left === "string" && typeof right === "string") {
    if (left === right) return 0;
    return left < right ? -1 : 1;
  }
  if (isMoment(left) && isMoment(right)) return left.seconds - right.seconds;
  throw new TemplateError(`${kindOf(left)} and ${kindOf(right)} cannot be compared`);
}

function isMoment(value: Value): value is Moment {
  return kindOf(value) === "a moment";
}

/** The type of a value, for messages. */
export function kindOf(value: Value): string {
  if (value === undefined) return "an undefined value";
  if (value === null) return "none";
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return "a boolean";
  if (numberOf(value) !== undefined) return "a number";
  if (isList(value)) return "a list";
  return isDict(value) ? "a dict" : "a moment";
}
