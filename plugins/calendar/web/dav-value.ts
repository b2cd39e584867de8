import { MantelError, sentence } from "@mantel/plugin-sdk";
import type { DAVResponse } from "tsdav";
import { fetchError } from "./fetch-error.ts";

/**
 * The text of a property in tsdav's result: a text, a number or boolean parsed from one, one of
 * several, or an element around any of these. `undefined` without a text.
 */
export function propertyText(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return propertyText(value[0]);
  if (typeof value !== "object" || value === null) return undefined;
  const { href, _cdata, _text } = value as Record<string, unknown>;
  // CDATA cannot contain its own end marker, so such a text comes in pieces
  return propertyText(href ?? _text) ?? propertyText([_cdata].flat().join(""));
}

/** The names of the elements inside one. */
export function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/**
 * The parts of an answer.
 * @throws MantelError if the request as a whole was refused or not understood
 */
export function responseParts(responses: readonly DAVResponse[]): readonly DAVResponse[] {
  const [first] = responses;
  if (!first || multistatusOf(first)) return responses;
  if (!first.ok) throw fetchError(first.status, {});
  throw new MantelError("invalid", NO_WEBDAV);
}

/** The multistatus of an answer; `undefined` if it is not a WebDAV answer. */
export function multistatusOf({ raw }: DAVResponse): { syncToken?: unknown } | undefined {
  const answer = raw as { multistatus?: object } | string | undefined;
  return typeof answer === "object" ? answer.multistatus : undefined;
}

/**
 * Checks an answer that came without a length, because the XML parser accepts an incomplete one.
 * @throws MantelError `invalid`
 */
export function refuseTruncated(multistatus: Uint8Array): void {
  const last = Buffer.from(multistatus.slice(-END_BYTES)).toString("latin1");
  if (/<(?:\/(?:[^<>/:]+:)?multistatus\s*|(?:[^<>/:]+:)?multistatus(?:\s[^<>]*)?\/)>/.test(last))
    return;
  throw new MantelError("invalid", CUT);
}

const NO_WEBDAV = sentence(
  "no_webdav",
  "the server's answer is a web page or something else that tells of no calendars: sign in there once, or check the address",
);
const CUT = sentence("list_cut", "the server's answer ends in the middle: it is asked again soon");

/** Room for trailing output of servers, such as timing. */
const END_BYTES = 1_000;

/** The path of an object, which servers write with or without their address. */
export function pathOf(href: string, base: string): string {
  return URL.canParse(href, base) ? new URL(href, base).pathname : href;
}
