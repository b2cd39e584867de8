import { Arguments, type Filter } from "./arguments.ts";
import { filterNamed } from "./filters.ts";
import { acrossArguments } from "./list-filters.ts";
import { asDatetime, asTimestamp, strptime } from "./moment-filters.ts";
import { Moment } from "./moment.ts";
import type { Run } from "./run.ts";
import { testNamed } from "./tests.ts";
import { isDict, keyOf, TemplateError, type Value } from "./values.ts";

type TemplateFunction = (given: Arguments, run: Run) => Value;

const LONGEST_RANGE = 1_000;

function range(given: Arguments, run: Run): Value {
  const from = given.positional.length > 1 ? given.whole(0, "start", 0) : 0;
  const to = given.whole(given.positional.length > 1 ? 1 : 0, "stop", 0);
  const step = given.whole(2, "step", 1);
  if (step === 0) throw new TemplateError("a range needs a step other than 0");
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > LONGEST_RANGE) {
    throw new TemplateError(`a range has ${length} numbers; it may have ${LONGEST_RANGE}`);
  }
  return run.list(Array.from({ length }, (_, index) => from + index * step));
}

/** A dict whose entries `{% set space.name = … %}` changes, also from within a loop. */
export class Namespace extends Map<Value, Value> {}

function entriesOf({ positional: [first], named }: Arguments): [Value, Value][] {
  return [
    ...(isDict(first) ? first : []),
    ...[...named].map(([k, v]) => [keyOf(k), v] as const),
  ].map(([key, value]) => [key, value]);
}

/** A filter as a function: the value it works on comes first. */
function asFunction(filter: Filter): TemplateFunction {
  return ({ positional, named }, run) =>
    filter(positional[0] ?? named.get("value"), new Arguments(positional.slice(1), named), run);
}

const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["range", range],
  ["dict", (given) => new Map(entriesOf(given))],
  ["namespace", (given) => new Namespace(entriesOf(given))],
  ["now", (_, { clock }) => new Moment(clock.now(), clock.zone)],
  ["utcnow", (_, { clock }) => new Moment(clock.now(), "UTC")],
  ["as_timestamp", asFunction(asTimestamp)],
  ["as_datetime", asFunction(asDatetime)],
  ["strptime", asFunction(strptime)],
  ["is_number", (given, run) => testNamed("is_number")(given.get(0, "value"), given, run)],
  ...["average", "max", "min"].map(
    (name) => [name, acrossArguments((...of) => filterNamed(name)(...of))] as const,
  ),
  ...["as_local", "bool", "cos", "float", "iif", "int", "log", "sin", "sqrt", "tan"].map(
    (name) => [name, asFunction((...of) => filterNamed(name)(...of))] as const,
  ),
]);

/** Functions of Home Assistant that look at the rest of a home. */
const OF_OTHERS = new Set([
  ...["states", "state_attr", "is_state", "is_state_attr", "has_value", "expand", "closest"],
  ...["distance", "device_id", "device_attr", "device_entities", "area_name", "area_id"],
  ...["area_entities", "integration_entities"],
]);

export const ofOthers = (name: string) =>
  new TemplateError(`${name} is not supported: a template sees only its own message`);

/** The function of this name. @throws TemplateError when templates have none */
export function functionNamed(name: string): TemplateFunction {
  const found = FUNCTIONS.get(name);
  if (found) return found;
  if (OF_OTHERS.has(name)) throw ofOthers(`${name}()`);
  throw new TemplateError(`unknown function ${name.slice(0, 60)}`);
}
