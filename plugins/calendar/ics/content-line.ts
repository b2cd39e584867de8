import { MantelError, sentence } from "@mantel/plugin-sdk";
import ICAL from "ical.js";

/** One property of a component, with its value in jCal form (RFC 7265). */
export interface Property {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly values: readonly Value[];
}

/** A period is a pair: its start, and its end or duration. */
export type Value = string | readonly string[];

/**
 * The text of a feed with unfolded lines and uniform line ends. Lines are joined before decoding,
 * because a fold may split a character (RFC 5545, 3.1).
 */
export function decode(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const unfolded = raw.replace(/\r\n?/g, "\n").replace(/\n[ \t]/g, "");
  return new TextDecoder().decode(Buffer.from(unfolded, "latin1")); // removes a byte-order mark
}

/** @throws MantelError `invalid` for a line that is not a property */
export function parseProperty(line: string): Property {
  try {
    const [name, parameters, , ...values] = ICAL.parse.property(line) as JcalProperty;
    return { name, parameters, values: values.map(toValue) };
  } catch (error) {
    const told = sentence("unreadable_line", "{line} cannot be read", { line: line.slice(0, 60) });
    throw new MantelError("invalid", told, { cause: error });
  }
}

export function isProperty(line: string): boolean {
  try {
    return parseProperty(line).name !== "";
  } catch {
    return false; // the caller continues without the line
  }
}

type JcalProperty = [string, Readonly<Record<string, string>>, string, ...unknown[]];

function toValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}

/** The text of the first property with a name; `undefined` if it is missing or empty. */
export function firstText(lines: readonly string[], name: string): string | undefined {
  const line = lineOf(lines, name);
  const [value = ""] = line === undefined ? [] : parseProperty(line).values;
  return String(value).trim() || undefined;
}

/** The texts of all properties with a name, without empty ones. A line that cannot be read is left out. */
export function allTexts(lines: readonly string[], name: string): string[] {
  return lines
    .filter((line) => nameOf(line) === name && isProperty(line))
    .flatMap((line) => parseProperty(line).values.map((value) => String(value).trim()))
    .filter((text) => text !== "");
}

/** The name of a content line, in upper case: the part before its parameters and value. */
export function nameOf(line: string): string {
  const end = line.search(/[:;]/);
  return (end < 0 ? line : line.slice(0, end)).toUpperCase();
}

/** The first line with a name. */
export function lineOf(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => nameOf(line) === name);
}
