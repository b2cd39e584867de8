import { float, Float, type Value } from "./values.ts";

/** A number as Python prints it: 12.0, 1e-05, 1e+16, nan. */
export function printNumber(value: number | Float): string {
  const isWhole = typeof value === "number" && Number.isInteger(value);
  if (isWhole) return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
  return printFloat(value instanceof Float ? value.value : value);
}

const SPECIAL: ReadonlyMap<number, string> = new Map([
  [NaN, "nan"],
  [Infinity, "inf"],
  [-Infinity, "-inf"],
]);

function printFloat(value: number): string {
  const special = SPECIAL.get(value);
  if (special !== undefined) return special;
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/**
 * A number with so many decimals, rounded as Python rounds: to the nearest by the exact binary value,
 * and a tie to the even digit. 1.25 gives 1.2.
 */
export function toFixed(value: number, decimals: number): string {
  const rounded = value.toFixed(decimals);
  if (Math.abs(value) >= 1e21 || !isTie(value, decimals)) return rounded;
  const lastDigit = Number(rounded.at(-1));
  if (lastDigit % 2 === 0) return rounded;
  // JavaScript takes the larger of two equally near numbers; the even one is one step nearer to zero.
  const cut = value.toFixed(decimals + 1).slice(0, -1);
  return decimals === 0 ? cut.slice(0, -1) : cut;
}

/** True when a value lies exactly between two numbers of that many decimals. */
function isTie(value: number, decimals: number): boolean {
  const exact = value.toFixed(Math.min(100, decimals + 60));
  const point = exact.indexOf(".");
  return point >= 0 && /^50*$/.test(exact.slice(point + 1 + decimals));
}

/** Python's `round`; a negative number of decimals rounds to tens, hundreds … */
export function round(value: number, decimals: number): number {
  if (!Number.isFinite(value)) return value;
  if (decimals >= 0) return Number(toFixed(value, Math.min(decimals, 40)));
  const unit = 10 ** Math.min(-decimals, 30);
  return round(value / unit, 0) * unit;
}

const NUMBER = /^[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(e[+-]?\d+)?$/i;
const NOT_FINITE: Readonly<Record<string, number>> = {
  nan: NaN,
  inf: Infinity,
  infinity: Infinity,
  "+inf": Infinity,
  "-inf": -Infinity,
  "-infinity": -Infinity,
};

/** The number that a text spells as Python's `float()` reads it, or `undefined`. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) return Number(trimmed.replaceAll("_", ""));
  const word = trimmed.toLowerCase();
  return Object.hasOwn(NOT_FINITE, word) ? NOT_FINITE[word] : undefined;
}

const DIGITS: Readonly<Record<number, RegExp>> = {
  2: /^[+-]?(0b)?[01]+$/i,
  8: /^[+-]?(0o)?[0-7]+$/i,
  10: /^[+-]?\d+$/,
  16: /^[+-]?(0x)?[0-9a-f]+$/i,
};

/** The whole number that a text spells in a base of 2, 8, 10 or 16, or `undefined`. */
export function parseWhole(text: string, base: number): number | undefined {
  const trimmed = text.trim();
  if (!DIGITS[base]?.test(trimmed)) return undefined;
  const digits = trimmed.replace(/^([+-]?)0[box]/i, "$1");
  const value = Number.parseInt(digits, base);
  return Number.isNaN(value) ? undefined : value;
}

/**
 * The result of an operation on two numbers: a float if one of them is, an int if both are whole.
 */
export function result(value: number, floats: boolean): Value {
  return floats ? float(value) : value;
}
