import type { IncomingHttpHeaders } from "node:http";
import { MantelError, type Sentence, sentence } from "@mantel/plugin-sdk";
import type { WebOptions } from "../options.ts";
import { authorizedRequest } from "./authorized-request.ts";
import { isSameSite } from "./credentials.ts";
import { answeredWith, fetchError, rateError, retryAfterMs, TOO_OFTEN_NOW } from "./fetch-error.ts";
import type { GuardedAnswer } from "./guarded-request.ts";
import { isSignInAgain } from "./oauth.ts";

/** An object as its server has it. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  readonly etag: string | undefined;
}

/** The state of an object under which it is changed: there is none, there is one, or this version of it. */
export type Condition = "absent" | "present" | { readonly etag: string };

/** The server's answer to a change that it has not refused. */
export interface Taken {
  readonly etag: string | undefined;
  /** True if it has only accepted the change, and may carry it out later (RFC 9110, 15.3.3). */
  readonly isLater: boolean;
}

/** Single objects at a server, byte for byte. */
export interface ObjectStore {
  /** `undefined` if it does not exist. @throws NoAnswer, MantelError */
  readonly load: (url: string) => Promise<StoredObject | undefined>;
  /** @throws NoAnswer; MantelError `revision_stale` if the condition is not met, or the reason of a refusal */
  readonly store: (url: string, bytes: Uint8Array, condition: Condition) => Promise<Taken>;
  /** @throws as `store` */
  readonly erase: (url: string, condition: Condition) => Promise<Taken>;
  /** True for an occurrence of a series that is an object of its own; absent means that none is. */
  readonly isOccurrence?: (url: string) => Promise<boolean>;
  /** True if an object is as it was to be stored; absent means that its stamps tell. */
  readonly has?: (now: Uint8Array, wanted: Uint8Array) => Promise<boolean>;
}

/** The answer of the server is missing, so that it is not known what it has done. */
export class NoAnswer extends MantelError {
  constructor(message: string | Sentence, cause: unknown, waitMs = RETRY_MS) {
    super("service_unavailable", message, { cause, retryAfterMs: waitMs });
  }
}

/** Maximum time of one request, which somebody waits for. */
export const REQUEST_MS = 8_000;
const RETRY_MS = 5_000;
/** A server that wants to be left alone for longer is not asked again within a change. */
const LONGEST_PAUSE_MS = 8_000;
const TYPE = { "content-type": "text/calendar; charset=utf-8" } as const;

/** Objects of a CalDAV account (RFC 4791, 5.3). */
export class DavObjects implements ObjectStore {
  readonly #account: WebOptions;
  readonly #signal: AbortSignal;

  /** @param account with an address for HTTP */
  constructor(account: WebOptions, signal: AbortSignal) {
    this.#account = account;
    this.#signal = signal;
  }

  async load(url: string): Promise<StoredObject | undefined> {
    const answer = await this.#send("GET", url);
    if (answer.status === 404 || answer.status === 410) return undefined;
    requireTaken(answer);
    if (!isWhole(answer.body)) {
      const half = sentence("answer_cut", "the server's answer ends in the middle");
      throw new NoAnswer(half, undefined);
    }
    return { bytes: answer.body, etag: answer.headers.etag };
  }

  async store(url: string, bytes: Uint8Array, condition: Condition): Promise<Taken> {
    const headers = { ...TYPE, ...conditionHeaders(condition) };
    const answer = await this.#send("PUT", url, { headers, body: bytes });
    requireTaken(answer);
    return { etag: answer.headers.etag, isLater: answer.status === 202 };
  }

  async erase(url: string, condition: Condition): Promise<Taken> {
    const answer = await this.#send("DELETE", url, { headers: conditionHeaders(condition) });
    if (answer.status !== 404 && answer.status !== 410) requireTaken(answer);
    return { etag: undefined, isLater: answer.status === 202 };
  }

  async #send(
    method: string,
    url: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: Uint8Array } = {},
  ): Promise<GuardedAnswer> {
    const { allowPrivate, fingerprint, authorityFile } = this.#account;
    const first = new URL(this.#account.url);
    const request = authorizedRequest(this.#account, {
      url,
      method,
      // Apache changes the entity tag of a compressed answer, which then fits no If-Match.
      headers: { "accept-encoding": "identity", ...headers },
      body,
      trusts: (address) => isSameSite(first, address),
      allowPrivate,
      trust: { fingerprint, authorityFile },
      limits: { idleMs: REQUEST_MS, totalMs: REQUEST_MS },
      readsRefusal: true,
      signal: this.#signal,
    });
    return request.catch(asNoAnswer);
  }
}

/** Tells a failed request whose answer is missing from one that was not carried out. @throws NoAnswer, MantelError */
export function asNoAnswer(error: unknown): never {
  if (isSignInAgain(error)) {
    const { message, extras } = error;
    throw new MantelError("conflict", extras.sentence ?? message);
  }
  if (!isUnanswered(error)) throw error;
  throw new NoAnswer(error.extras.sentence ?? error.message, error);
}

function conditionHeaders(condition: Condition): Record<string, string> {
  if (condition === "absent") return { "if-none-match": "*" };
  return { "if-match": condition === "present" ? "*" : condition.etag };
}

/** True if nothing answered in time, as far as is known. */
function isUnanswered(error: unknown): error is MantelError {
  if (!(error instanceof MantelError)) return false;
  return error.code === "deadline_passed" || (error.code === "invalid" && !!error.cause);
}

/** A connection that is closed early looks like the end of an answer without a length. */
function isWhole(bytes: Uint8Array): boolean {
  const end = Buffer.from(bytes.subarray(-200)).toString("latin1");
  return /END:VCALENDAR\s*$/i.test(end);
}

/** @throws NoAnswer; MantelError if the server has not carried out a request */
export function requireTaken({ status, headers, body }: GuardedAnswer): void {
  if (status >= 200 && status < 300) return;
  if (status === 412) throw changedThere();
  const waitMs = retryAfterMs(headers);
  if ([500, 502, 503, 504].includes(status) && (waitMs ?? 0) <= LONGEST_PAUSE_MS) {
    throw new NoAnswer(answeredWith(status), undefined, waitMs);
  }
  if (status === 401) {
    const { message, extras } = fetchError(status, headers);
    throw new MantelError("conflict", extras.sentence ?? message);
  }
  const retry = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  if (status === 429) throw new MantelError("rate_limited", TOO_OFTEN_NOW, retry);
  const tooOften = rateError(status, headers, body);
  if (tooOften) throw tooOften;
  if (status === 503) throw new MantelError("service_unavailable", answeredWith(status), retry);
  throw new MantelError("conflict", refusalOf(status, body, headers), retry);
}

export function changedThere(): MantelError {
  const told = sentence("changed_there", "it has changed at its server: read it again");
  return new MantelError("revision_stale", told);
}

const COPY_EXISTS = sentence(
  "copy_exists",
  "the calendar already has this event: delete that copy first",
);
const TOO_LARGE = sentence("too_large_there", "the event is larger than the server takes");
const SERVER_FULL = sentence(
  "server_full",
  "the server has no room left: free some of its storage",
);
const INVALID_THERE = sentence("invalid_there", "the server refuses this as invalid");
const NOT_PERMITTED = sentence(
  "not_permitted_there",
  "the server does not permit changes of this calendar: its owner can share it for writing",
);

/** Preconditions that servers name in refusals (RFC 4791, 5.3.2.1; RFC 4331, 6; RFC 3744, 7.1.1). */
const PRECONDITIONS: readonly (readonly [name: string, reason: Sentence])[] = [
  ["no-uid-conflict", COPY_EXISTS],
  ["max-resource-size", TOO_LARGE],
  ["quota-not-exceeded", SERVER_FULL],
  ["sufficient-disk-space", SERVER_FULL],
  ["need-privileges", NOT_PERMITTED],
  ["valid-calendar-data", INVALID_THERE],
  ["valid-calendar-object-resource", INVALID_THERE],
  [
    "supported-calendar-component",
    sentence("other_kind_there", "the calendar at the server is for other things than this"),
  ],
];

const REFUSALS: Readonly<Record<number, Sentence>> = {
  400: INVALID_THERE,
  403: NOT_PERMITTED,
  404: sentence(
    "calendar_gone_there",
    "the calendar is not at this address of its server any more",
  ),
  405: NOT_PERMITTED,
  413: TOO_LARGE,
  415: INVALID_THERE,
  422: INVALID_THERE,
  423: sentence("locked_there", "the calendar is locked at its server: try again later"),
  507: SERVER_FULL,
};

/** The reason of a refusal, from the precondition that the server names or from the status. */
function refusalOf(status: number, body: Uint8Array, headers: IncomingHttpHeaders): Sentence {
  const isXml = /xml/i.test(headers["content-type"] ?? "");
  const text = isXml ? Buffer.from(body.subarray(0, 10_000)).toString("utf8") : "";
  const named = PRECONDITIONS.find(
    ([name]) => text.includes(`:${name}`) || text.includes(`<${name}`),
  );
  return named?.[1] ?? REFUSALS[status] ?? answeredWith(status);
}
