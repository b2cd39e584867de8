import { MantelError } from "./errors.ts";

/**
 * Parses a JSON document that a person may have edited; a byte-order mark is allowed.
 *
 * @param name names the document in the message
 * @throws MantelError `invalid` with line and column of the fault, and without any of the text
 */
export function parseJsonText(text: string, name: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch (cause) {
    const { line, column } = placeOfFault(json);
    const place = `line ${line}, column ${column}`;
    const detail = `is no JSON at ${place}: ${reason(cause)}`;
    throw new MantelError("invalid", `${name} ${detail}`, {
      cause,
      errors: [{ pointer: "", detail }],
    });
  }
}

/** Where the first fault of a text is that is no JSON. Lines and columns count from 1. */
export function placeOfFault(json: string): { line: number; column: number } {
  const lines = json.slice(0, faultOffset(json)).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The engine's sentence without its quotation of the text, which may hold a secret. */
function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : "";
  if (message.startsWith("Unexpected token")) return "unexpected character";
  const sentence = message
    .replace(/ in JSON.*| after JSON.*|, ".*/s, "")
    .replace("JSON input", "it");
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/**
 * Where the first fault is. Not every message of the engine says it, but a text that ends before the
 * fault fails only for being cut off, so the place can be searched for.
 */
function faultOffset(text: string): number {
  let whole = 0;
  let broken = text.length + 1;
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2);
    if (isCutOff(text.slice(0, middle))) whole = middle;
    else broken = middle;
  }
  return Math.min(whole, text.length);
}

function isCutOff(start: string): boolean {
  try {
    JSON.parse(start);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)/.exec(message)?.[1];
    return /end of JSON|Unterminated/.test(message) || position === String(start.length);
  }
}
