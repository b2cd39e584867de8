import type { Arguments, Filter } from "./arguments.ts";
import { parseWhole, round as roundNumber } from "./numbers.ts";
import { looseNumber } from "./percent.ts";
import { float, kindOf, numberOf, TemplateError, type Value } from "./values.ts";

/**
 * The default for a value that is not a number.
 * @throws TemplateError if the template has none
 */
function instead(value: Value, given: Arguments, index: number): Value {
  if (given.has(index, "default")) return given.get(index, "default");
  const shown = typeof value === "string" ? `"${value.slice(0, 60)}"` : kindOf(value);
  throw new TemplateError(`${shown} is not a number, and the template has no default`);
}

/** A filter that makes a float of a number or of a text with one. */
function onNumber(change: (value: number, given: Arguments) => number, defaultAt: number): Filter {
  return (value, given) => {
    const number = looseNumber(value);
    return number === undefined ? instead(value, given, defaultAt) : float(change(number, given));
  };
}

const operand = (given: Arguments) => {
  const number = looseNumber(given.get(0, "amount"));
  if (number === undefined) throw new TemplateError("amount must be a number");
  return number;
};

/** A filter of two numbers, the second of which is its argument. */
function byAmount(operate: (a: number, b: number) => Value): Filter {
  return (value, given) => {
    const number = looseNumber(value);
    if (number === undefined) return instead(value, given, 1);
    return operate(number, operand(given));
  };
}

const toInt: Filter = (value, given) => {
  const base = given.whole(1, "base", 10);
  const spelled = typeof value === "string" ? parseWhole(value, base) : undefined;
  const number = spelled ?? (base === 10 ? looseNumber(value) : undefined);
  if (number === undefined || !Number.isFinite(number)) return instead(value, given, 0);
  return Math.trunc(number);
};

const TRUE_WORDS = new Set(["true", "yes", "on", "enable", "1"]);
const FALSE_WORDS = new Set(["false", "no", "off", "disable", "0"]);

const toBool: Filter = (value, given) => {
  if (typeof value === "boolean") return value;
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : instead(value, given, 0);
};

const METHODS: Readonly<Record<string, (value: number) => number>> = {
  ceil: Math.ceil,
  floor: Math.floor,
  half: (value) => roundNumber(value * 2, 0) / 2,
};

/** `round(precision, method, default)`: without decimals the result is an int, as in Home Assistant. */
const round: Filter = (value, given) => {
  const number = looseNumber(value);
  if (number === undefined) return instead(value, given, 2);
  const precision = given.whole(0, "precision", 0);
  const method = given.text(1, "method", "common");
  const scale = 10 ** Math.min(Math.max(precision, -30), 30);
  const change = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  const scaled = method === "half" ? change?.(number) : change && change(number * scale) / scale;
  const rounded = scaled ?? roundNumber(number, precision);
  return precision === 0 && method !== "half" ? rounded : float(rounded);
};

const absolute: Filter = (value, given) => {
  const number = numberOf(value);
  return number === undefined ? instead(value, given, 0) : Math.abs(number);
};

function logarithm(value: number, given: Arguments): number {
  const base = given.has(0, "base") ? looseNumber(given.get(0, "base")) : Math.E;
  if (value <= 0 || base === undefined || base <= 0)
    throw new TemplateError("log: the number and the base must be above 0");
  if (base === 10) return Math.log10(value);
  return base === 2 ? Math.log2(value) : Math.log(value) / Math.log(base);
}

function root(value: number): number {
  if (value < 0) throw new TemplateError("a negative number has no square root");
  return Math.sqrt(value);
}

/** Bits beyond 32 are cut off. */
const bits = (operate: (a: number, b: number) => number): Filter =>
  byAmount((a, b) => operate(a, b) >>> 0);

export const numberFilters: Readonly<Record<string, Filter>> = {
  abs: absolute,
  add: byAmount((a, b) => float(a + b)),
  bitwise_and: bits((a, b) => a & b),
  bitwise_or: bits((a, b) => a | b),
  bool: toBool,
  cos: onNumber(Math.cos, 0),
  float: onNumber((value) => value, 0),
  int: toInt,
  log: onNumber(logarithm, 1),
  multiply: byAmount((a, b) => float(a * b)),
  round,
  sin: onNumber(Math.sin, 0),
  sqrt: onNumber(root, 0),
  tan: onNumber(Math.tan, 0),
};
