import { MantelError } from "@mantel/plugin-sdk";
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
  // CDATA cannot hold its own end, so a text with that comes in pieces
  return textOf(href ?? _text) ?? textOf([_cdata].flat().join(""));
}

/** The names of the elements inside one. */
export function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** The parts of an answer. @throws MantelError when the request as a whole was refused, or not understood */
export function whole(responses: readonly DAVResponse[]): readonly DAVResponse[] {
  const [first] = responses;
  if (!first || multistatusOf(first)) return responses;
  if (!first.ok) throw refusal(first.status, {});
  throw new MantelError(
    "invalid",
    "the server's answer is a web page or something else that tells of no calendars: sign in there once, or check the address",
  );
}

/** What an answer is made of; `undefined` for one that is no answer of WebDAV. */
export function multistatusOf({ raw }: DAVResponse): { syncToken?: unknown } | undefined {
  const answer = raw as { multistatus?: object } | string | undefined;
  return typeof answer === "object" ? answer.multistatus : undefined;
}

/**
 * For an answer that came without its length, of which the rest may be missing: reading XML takes it as it is.
 *
 * @throws MantelError `invalid`
 */
export function refuseCut(multistatus: Uint8Array): void {
  const last = Buffer.from(multistatus.slice(-END_BYTES)).toString("latin1");
  if (/<(?:\/(?:[^<>/:]+:)?multistatus\s*|(?:[^<>/:]+:)?multistatus(?:\s[^<>]*)?\/)>/.test(last))
    return;
  throw new MantelError(
    "invalid",
    "the server's answer ends in the middle: it is asked again soon",
  );
}

/** Room for what servers write after it, such as how long it took. */
const END_BYTES = 1_000;

/** The path of an object, which servers write with and without their address. */
export function pathOf(href: string, base: string): string {
  return URL.canParse(href, base) ? new URL(href, base).pathname : href;
}
