import { isoFormat, type Moment } from "./moment.ts";
import { printNumber } from "./numbers.ts";
import type { Run } from "./run.ts";
import { Float, isDict, isList, type Value } from "./values.ts";

/** A value as a template prints it: Python's `str`, with nothing for undefined. */
export function printed(value: Value, run: Run): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  return run.text(plain(value) ?? collection(value, run, (each) => quoted(each, run)));
}

function plain(value: Value): string | undefined {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" || value instanceof Float) return printNumber(value);
  return isList(value) || isDict(value) || typeof value !== "object"
    ? undefined
    : isoFormat(value satisfies Moment).replace("T", " ");
}

/** Python's `repr`, which is how values within lists and dicts are printed. */
function quoted(value: Value, run: Run): string {
  run.step();
  if (value === undefined) return "Undefined";
  if (typeof value === "string") return quotedText(value);
  return plain(value) ?? collection(value, run, (each) => quoted(each, run));
}

function quotedText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

function collection(value: Value, run: Run, write: (value: Value) => string): string {
  return run.nested(() => {
    if (isList(value)) return `[${value.map(write).join(", ")}]`;
    const entries = isDict(value) ? [...value] : [];
    return `{${entries.map(([key, each]) => `${write(key)}: ${write(each)}`).join(", ")}}`;
  });
}

/** The JSON format: with blanks, as in Python, or without. */
interface JsonLayout {
  readonly comma: string;
  readonly colon: string;
}

export const SPACED: JsonLayout = { comma: ", ", colon: ": " };
export const COMPACT: JsonLayout = { comma: ",", colon: ":" };

/** A value as JSON. */
export function json(value: Value, run: Run, layout: JsonLayout): string {
  run.step();
  const write = (each: Value) => json(each, run, layout);
  return run.nested(() => {
    if (isList(value)) return `[${value.map(write).join(layout.comma)}]`;
    if (!isDict(value)) return jsonScalar(value);
    const entries = [...value].map(
      ([key, each]) =>
        `${JSON.stringify(typeof key === "string" ? key : jsonScalar(key))}${layout.colon}${write(each)}`,
    );
    return `{${entries.join(layout.comma)}}`;
  });
}

function jsonScalar(value: Value): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" || value instanceof Float) return printNumber(value);
  return JSON.stringify(isoFormat(value as Moment));
}
