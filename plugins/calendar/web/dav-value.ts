import type { DAVResponse } from "tsdav";
import { refusal } from "./refusal.ts";

/**
 * The text of a property as tsdav gives it: a text, a number or a truth that it took one for, one of
 * several, or an element around any of these. `undefined` when there is none.
 */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return textOf(value[0]);
  if (typeof value !== "object" || value === null) return undefined;
  const { href, _cdata, _text } = value as Record<string, unknown>;
  return textOf(href ?? _cdata ?? _text);
}

/** The names of the elements inside one. */
export function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** The parts of an answer. @throws MantelError when the request as a whole was refused */
export function whole(responses: readonly DAVResponse[]): readonly DAVResponse[] {
  const [first] = responses;
  if (first && !first.ok && first.props === undefined) throw refusal(first.status, {});
  return responses;
}

/** The path of an object, which servers write with and without their address. */
export function pathOf(href: string, base: string): string {
  return URL.canParse(href, base) ? new URL(href, base).pathname : href;
}
