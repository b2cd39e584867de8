import { MantelError } from "./errors.ts";

/**
 * Parses a JSON document that may have been edited by hand; a byte-order mark is allowed.
 *
 * @param name the document's name for the error message
 * @throws MantelError `invalid` with line and column of the fault; the message quotes none of the text
 */
export function parseJsonText(text: string, name: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch (cause) {
    const { line, column } = placeOfFault(json);
    const place = `line ${line}, column ${column}`;
    const detail = `is not valid JSON at ${place}: ${reason(cause)}`;
    throw new MantelError("invalid", `${name} ${detail}`, {
      cause,
      errors: [{ pointer: "", detail }],
    });
  }
}

/** The position of the first syntax error in a JSON text. Lines and columns count from 1. */
export function placeOfFault(json: string): { line: number; column: number } {
  const lines = json.slice(0, faultOffset(json)).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The JavaScript engine's message without its quotation of the text, which may contain a secret. */
function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : "";
  if (message.startsWith("Unexpected token")) return "unexpected character";
  const sentence = message
    .replace(/ in JSON.*| after JSON.*|, ".*/s, "")
    .replace("JSON input", "it");
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/**
 * The offset of the first syntax error. Some engine messages do not contain it. A prefix that ends before the
 * error fails only because it is incomplete, so a binary search over prefixes finds the offset.
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
