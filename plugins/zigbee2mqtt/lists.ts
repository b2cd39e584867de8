import { MantelError, type StateValue } from "@mantel/plugin-sdk";
import type { Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { toText } from "./texts.ts";

/** Types of elements that need no JSON: `#ff0000, #00ff00`. */
const PLAIN = new Set(["text", "numeric", "enum", "binary"]);

/** A list as a text: plain elements with commas between them, others as JSON. */
export function listForm(expose: Expose): Form {
  const isPlain = PLAIN.has(expose.item?.type ?? "");
  return {
    capability: { type: "text" },
    read: (raw) => (isPlain && isPlainList(raw) ? toText(raw.join(", ")) : toText(raw)),
    write: (value) => checked(expose, elementsOf(expose, value)),
    confirms: (raw, written) => JSON.stringify(raw) === JSON.stringify(written),
  };
}

function isPlainList(raw: unknown): raw is (string | number | boolean)[] {
  return (
    Array.isArray(raw) && raw.every((each) => typeof each !== "object" && !/[,[]/.test(`${each}`))
  );
}

function elementsOf(expose: Expose, value: StateValue): unknown[] {
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") return [];
  const isJson = text.startsWith("[");
  if (!isJson && !PLAIN.has(expose.item?.type ?? "")) throw refused(expose, "a JSON list");
  if (!isJson) return text.split(",").map((each) => elementOf(expose, each.trim()));
  const list = parsed(text);
  if (!Array.isArray(list)) throw refused(expose, "a JSON list");
  return list as unknown[];
}

function elementOf(expose: Expose, text: string): unknown {
  const { type, on = true, off = false } = expose.item ?? { type: "text" };
  if (type === "binary") return text === String(on) ? on : text === String(off) ? off : text;
  if (type !== "numeric") return text;
  const number = Number(text);
  if (text === "" || !Number.isFinite(number)) throw refused(expose, "a list of numbers");
  return number;
}

function checked(expose: Expose, list: unknown[]): unknown[] {
  const { item, leastItems = 0, mostItems = 1_000 } = expose;
  if (list.length < leastItems || list.length > mostItems) {
    throw refused(expose, `a list of ${leastItems} to ${mostItems} elements`);
  }
  const values = item?.type === "enum" ? item.values : [];
  const isKnown = list.every((each) => values.length === 0 || values.includes(String(each)));
  if (!isKnown) throw refused(expose, `a list of ${values.join(", ")}`);
  return list;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const refused = ({ property }: Expose, expected: string): MantelError =>
  new MantelError("invalid", `${property} must be ${expected}`.slice(0, 500));
