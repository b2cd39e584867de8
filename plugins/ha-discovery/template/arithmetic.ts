import { Moment } from "./moment.ts";
import { result } from "./numbers.ts";
import { percentFormat } from "./percent.ts";
import type { Run } from "./run.ts";
import { printed } from "./text.ts";
import {
  float,
  isDict,
  isFloat,
  isList,
  kindOf,
  numberOf,
  TemplateError,
  type Value,
} from "./values.ts";

type Operation = (left: Value, right: Value, run: Run) => Value;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["+", add],
  ["-", subtract],
  ["*", multiply],
  ["/", numeric((a, b) => a / divisor(b), true)],
  ["//", numeric((a, b) => Math.floor(a / divisor(b)))],
  ["%", remainder],
  ["**", numeric((a, b) => a ** b)],
]);

/** The operation that is written so. */
export function arithmetic(operator: string): Operation {
  const found = OPERATIONS.get(operator);
  if (found) return found;
  throw new TemplateError(`${operator} is not an operation`);
}

function numeric(operate: (a: number, b: number) => number, floats = false): Operation {
  return (left, right, run) => {
    run.step();
    const [a, b] = [numberOf(left), numberOf(right)];
    if (a === undefined || b === undefined) {
      throw new TemplateError(`${kindOf(left)} and ${kindOf(right)} are not two numbers`);
    }
    return result(operate(a, b), floats || isFloat(left) || isFloat(right));
  };
}

const sum = numeric((a, b) => a + b);
const difference = numeric((a, b) => a - b);
const product = numeric((a, b) => a * b);
const modulo = numeric((a, b) => a - divisor(b) * Math.floor(a / b));

function divisor(value: number): number {
  if (value === 0) throw new TemplateError("division by zero");
  return value;
}

function add(left: Value, right: Value, run: Run): Value {
  if (typeof left === "string" && typeof right === "string") {
    run.fits(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) return run.list([...left, ...right]);
  return sum(left, right, run);
}

/** Two moments give the seconds between them. */
function subtract(left: Value, right: Value, run: Run): Value {
  if (left instanceof Moment && right instanceof Moment) return float(left.seconds - right.seconds);
  return difference(left, right, run);
}

function multiply(left: Value, right: Value, run: Run): Value {
  const times = numberOf(right);
  if (typeof left !== "string" || times === undefined) return product(left, right, run);
  run.fits(left.length * Math.max(0, times));
  return left.repeat(Math.max(0, Math.floor(times)));
}

function remainder(left: Value, right: Value, run: Run): Value {
  return typeof left === "string"
    ? percentFormat(left, listOf(right), run)
    : modulo(left, right, run);
}

function listOf(value: Value): readonly Value[] {
  return isList(value) ? value : [value];
}

export function concatenate(left: Value, right: Value, run: Run): Value {
  return run.text(printed(left, run) + printed(right, run));
}

export function negate(value: Value, run: Run): Value {
  return product(value, -1, run);
}

export function positive(value: Value, run: Run): Value {
  if (isDict(value) || numberOf(value) === undefined) return product(value, 1, run);
  return value;
}
