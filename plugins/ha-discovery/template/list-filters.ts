import { Arguments, type Filter, NONE } from "./arguments.ts";
import { arithmetic } from "./arithmetic.ts";
import { item, itemsOf } from "./items.ts";
import { looseNumber } from "./percent.ts";
import type { Run } from "./run.ts";
import { testNamed } from "./tests.ts";
import { printed } from "./text.ts";
import { compare, float, isDict, isEqual, isTrue, TemplateError, type Value } from "./values.ts";

const count: Filter = (value, _, run) =>
  typeof value === "string" ? value.length : itemsOf(value, run).length;

/** The value at a path such as `a.b.0` of an item. */
function attribute(value: Value, path: Value, run: Run): Value {
  const steps = typeof path === "string" ? path.split(".") : [path];
  return steps.reduce<Value>(
    (at, step) =>
      item(at, typeof step === "string" && /^\d+$/.test(step) ? Number(step) : step, run),
    value,
  );
}

function sorted(value: Value, given: Arguments, run: Run): Value {
  const items = itemsOf(value, run);
  run.step(items.length * 8);
  const path = given.get(2, "attribute");
  const key = (each: Value) => {
    const of = path === undefined ? each : attribute(each, path, run);
    return typeof of === "string" && !isTrue(given.get(1, "case_sensitive"))
      ? of.toLowerCase()
      : of;
  };
  const up = items.map((each) => [key(each), each] as const).toSorted(([a], [b]) => compare(a, b));
  const list = up.map(([, each]) => each);
  return isTrue(given.get(0, "reverse")) ? list.toReversed() : list;
}

const best =
  (sign: number): Filter =>
  (value, _, run) => {
    const items = itemsOf(value, run);
    run.step(items.length);
    return items.reduce<Value>(
      (found, each) => (found === undefined || sign * compare(each, found) > 0 ? each : found),
      undefined,
    );
  };

const plus = arithmetic("+");

function total(value: Value, given: Arguments, run: Run): Value {
  const path = given.get(0, "attribute");
  const items = itemsOf(value, run).map((each) =>
    path === undefined ? each : attribute(each, path, run),
  );
  return items.reduce<Value>((sum, each) => plus(sum, each, run), given.get(1, "start") ?? 0);
}

function average(value: Value, _: Arguments, run: Run): Value {
  const numbers = itemsOf(value, run).map(looseNumber);
  if (numbers.length === 0 || numbers.includes(undefined))
    throw new TemplateError("average needs a list of numbers");
  return float(numbers.reduce<number>((sum, each) => sum + (each ?? 0), 0) / numbers.length);
}

function unique(value: Value, _: Arguments, run: Run): Value {
  return itemsOf(value, run).reduce<Value[]>((seen, each) => {
    run.step(1 + seen.length);
    return seen.some((known) => isEqual(known, each, run)) ? seen : [...seen, each];
  }, []);
}

function join(value: Value, given: Arguments, run: Run): Value {
  const items = itemsOf(value, run).map((each) => printed(each, run));
  const separator = given.has(0, "d") ? printed(given.get(0, "d"), run) : "";
  run.fits(items.reduce((length, each) => length + each.length + separator.length, 0));
  return items.join(separator);
}

/** `select('test', …)` and, with an attribute before the test, `selectattr('name', 'test', …)`. */
const chosen =
  (keeps: boolean, byAttribute: boolean): Filter =>
  (value, given, run) => {
    const [path, rest] = byAttribute
      ? [given.positional[0], given.positional.slice(1)]
      : [undefined, given.positional];
    const test = typeof rest[0] === "string" ? testNamed(rest[0]) : isTrue;
    const inner = new Arguments(rest.slice(1));
    return itemsOf(value, run).filter((each) => {
      run.step();
      return test(byAttribute ? attribute(each, path, run) : each, inner, run) === keeps;
    });
  };

/** `map(attribute='name')` and `map('filter', …)`. */
function mapped(filterNamed: (name: string) => Filter): Filter {
  return (value, given, run) => {
    const items = itemsOf(value, run);
    run.step(items.length);
    const path = given.named.get("attribute");
    if (path !== undefined) return items.map((each) => attribute(each, path, run));
    const filter = filterNamed(given.text(0, "filter"));
    const inner = new Arguments(given.positional.slice(1), given.named);
    return run.nested(() => items.map((each) => filter(each, inner, run)));
  };
}

const pairs: Filter = (value, _, run) =>
  isDict(value) ? run.list([...value].map(([key, each]) => [key, each])) : [];

const reversed: Filter = (value, _, run) =>
  typeof value === "string"
    ? Array.from(value).toReversed().join("")
    : itemsOf(value, run).toReversed();

export const listFilters = (
  filterNamed: (name: string) => Filter,
): Readonly<Record<string, Filter>> => ({
  average,
  count,
  first: (value, _, run) => itemsOf(value, run)[0],
  items: pairs,
  join,
  last: (value, _, run) => itemsOf(value, run).at(-1),
  length: count,
  list: (value, _, run) => [...itemsOf(value, run)],
  map: mapped(filterNamed),
  max: best(1),
  min: best(-1),
  reject: chosen(false, false),
  rejectattr: chosen(false, true),
  reverse: reversed,
  select: chosen(true, false),
  selectattr: chosen(true, true),
  sort: sorted,
  sum: total,
  unique,
});

/** A filter as a function of one list or of several values, as `max(a, b)` is. */
export function acrossArguments(filter: Filter): (given: Arguments, run: Run) => Value {
  return ({ positional }, run) =>
    filter(positional.length === 1 ? positional[0] : positional, NONE, run);
}
