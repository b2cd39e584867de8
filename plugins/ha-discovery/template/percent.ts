import { parseNumber, printNumber, toFixed } from "./numbers.ts";
import type { Run } from "./run.ts";
import { printed } from "./text.ts";
import { Float, kindOf, numberOf, TemplateError, type Value } from "./values.ts";

const PLACE = /%(?<flags>[-+ 0]*)(?<width>\d{0,3})(?:\.(?<precision>\d{1,2}))?(?<type>[a-zA-Z%])/g;

interface Place {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly type: string;
}

/** Python's `'%05.2f' % value`. @throws TemplateError */
export function percentFormat(format: string, values: readonly Value[], run: Run): string {
  let next = 0;
  const text = format.replace(PLACE, (...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    run.step(16);
    if (groups["type"] === "%") return "%";
    if (next >= values.length) throw new TemplateError(`${format} has more places than values`);
    return written(values[next++], placeOf(groups), run);
  });
  return run.text(text);
}

function placeOf({
  flags = "",
  width,
  precision,
  type = "",
}: Record<string, string | undefined>): Place {
  return {
    flags,
    type,
    width: Number(width || 0),
    precision: precision === undefined ? undefined : Number(precision),
  };
}

function written(value: Value, place: Place, run: Run): string {
  const { type, precision, flags, width } = place;
  const isNumber = type !== "s";
  const text = isNumber
    ? signed(number(value, place), flags)
    : printed(value, run).slice(0, precision);
  if (flags.includes("-")) return text.padEnd(width);
  return isNumber && flags.includes("0") ? zerosBefore(text, width) : text.padStart(width);
}

function signed(text: string, flags: string): string {
  return text.startsWith("-") ? text : (/[+ ]/.exec(flags)?.[0] ?? "") + text;
}

/** A number with zeros in front, behind its sign. */
export function zerosBefore(text: string, width: number): string {
  const [, sign = "", digits = ""] = /^([-+ ]?)(.*)$/s.exec(text) ?? [];
  return sign + digits.padStart(width - sign.length, "0");
}

const whole = (base: number) => (value: number) => Math.trunc(value).toString(base);

const FORMS: ReadonlyMap<string, (value: number, precision: number) => string> = new Map<
  string,
  (value: number, precision: number) => string
>([
  ["d", whole(10)],
  ["i", whole(10)],
  ["o", whole(8)],
  ["x", whole(16)],
  ["X", (value) => whole(16)(value).toUpperCase()],
  ["f", toFixed],
  ["F", toFixed],
  ["e", (value, precision) => value.toExponential(precision).replace(/e([+-])(\d)$/, "e$10$2")],
  ["g", (value, precision) => printNumber(Number(value.toPrecision(precision || 1)))],
]);

function number(value: Value, { type, precision = 6 }: Place): string {
  const found = numberOf(value);
  if (found === undefined) throw new TemplateError(`%${type} needs a number, not ${kindOf(value)}`);
  if (!Number.isFinite(found)) return printNumber(new Float(found));
  return formOf(type)(found, precision);
}

function formOf(type: string): (value: number, precision: number) => string {
  const form = FORMS.get(type);
  if (form) return form;
  throw new TemplateError(`%${type} is not a format`);
}

/** A number in a text or a number, or `undefined`: how filters such as `float` read their input. */
export function looseNumber(value: Value): number | undefined {
  return typeof value === "string" ? parseNumber(value) : numberOf(value);
}
