import type { Arguments } from "./arguments.ts";
import { comparison, contains } from "./comparison.ts";
import { Moment } from "./moment.ts";
import { looseNumber } from "./percent.ts";
import { regexTests } from "./regex-filters.ts";
import type { Run } from "./run.ts";
import { isDict, isFloat, isList, numberOf, TemplateError, type Value } from "./values.ts";

export type Test = (value: Value, given: Arguments, run: Run) => boolean;

const compared =
  (operator: string): Test =>
  (value, given, run) =>
    comparison(operator)(value, given.get(0, "other"), run);

const isNumber = (value: Value) => typeof value !== "boolean" && numberOf(value) !== undefined;
const whole = (value: Value) => {
  const number = numberOf(value);
  if (number === undefined) throw new TemplateError("only numbers are odd or even");
  return number;
};
const hasNumber: Test = (value) => Number.isFinite(looseNumber(value));

/** Values that can be used in `for`: a list, a dict or a text. */
const isIterable: Test = (value) => isList(value) || isDict(value) || typeof value === "string";

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ...(["==", "eq", "equalto"] as const).map((name) => [name, compared("==")] as const),
  ...(["!=", "ne"] as const).map((name) => [name, compared("!=")] as const),
  ...(["<", "lt", "lessthan"] as const).map((name) => [name, compared("<")] as const),
  ...([">", "gt", "greaterthan"] as const).map((name) => [name, compared(">")] as const),
  ...(["<=", "le"] as const).map((name) => [name, compared("<=")] as const),
  ...([">=", "ge"] as const).map((name) => [name, compared(">=")] as const),
  ["in", (value, given, run) => contains(value, given.get(0, "seq"), run)],
  ["contains", (value, given, run) => contains(given.get(0, "value"), value, run)],
  ["defined", (value) => value !== undefined],
  ["undefined", (value) => value === undefined],
  ["none", (value) => value === null],
  ["true", (value) => value === true],
  ["false", (value) => value === false],
  ["boolean", (value) => typeof value === "boolean"],
  ["number", (value) => isNumber(value) || typeof value === "boolean"],
  ["integer", (value) => isNumber(value) && !isFloat(value)],
  ["float", (value) => isFloat(value)],
  ["string", (value) => typeof value === "string"],
  ["mapping", (value) => isDict(value)],
  ["sequence", isIterable],
  ["iterable", isIterable],
  ["list", (value) => isList(value)],
  ["datetime", (value) => value instanceof Moment],
  ["odd", (value) => Math.abs(whole(value) % 2) === 1],
  ["even", (value) => whole(value) % 2 === 0],
  ["divisibleby", (value, given) => whole(value) % whole(given.get(0, "num")) === 0],
  ["lower", (value) => typeof value === "string" && value === value.toLowerCase()],
  ["upper", (value) => typeof value === "string" && value === value.toUpperCase()],
  ["is_number", hasNumber],
  ["match", (value, given, run) => regexTests.match(value, given, run)],
  ["search", (value, given, run) => regexTests.search(value, given, run)],
]);

/** The test of this name, for `is` and `select`. @throws TemplateError when templates have none */
export function testNamed(name: string): Test {
  const found = TESTS.get(name);
  if (found) return found;
  throw new TemplateError(`unknown test ${name.slice(0, 60)}`);
}
