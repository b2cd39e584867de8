import { MantelError, sentence } from "@mantel/plugin-sdk";
import { transferMs, type WebOptions } from "../options.ts";
import { authorizedRequest } from "./authorized-request.ts";
import { asNoAnswer, changedThere, NoAnswer, REQUEST_MS } from "./dav-objects.ts";
import { answeredWith, rateError, retryAfterMs, TOO_OFTEN_NOW } from "./fetch-error.ts";
import { type GuardedAnswer, IDLE_MS } from "./guarded-request.ts";

export interface ApiRequest {
  /** Absent means GET. */
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface ApiAnswer {
  readonly status: number;
  /** `undefined` if it is not JSON. */
  readonly data: unknown;
}

/** Statuses that callers handle themselves. */
const HANDLED = new Set([404, 409, 410]);
const INVALID = sentence("invalid_there", "the server refuses this as invalid");
const NOT_PERMITTED = sentence(
  "not_permitted_there",
  "the server does not permit changes of this calendar: its owner can share it for writing",
);

/** Requests to the Calendar API v3 of Google, in the name of a user. */
export class GoogleApi {
  readonly #account: WebOptions;
  readonly #signal: AbortSignal;

  constructor(account: WebOptions, signal: AbortSignal) {
    this.#account = account;
    this.#signal = signal;
  }

  /** The address of a part of the service. */
  urlOf(path: string): string {
    return `${this.#account.url.replace(/\/$/, "")}/${path}`;
  }

  /**
   * Sends a request, which is repeated with a new token if the service does not take the first. Gives answers with the
   * statuses 404, 409 and 410 as well.
   * @throws NoAnswer; MantelError `revision_stale` if a condition is not met, `rate_limited`, or another reason
   */
  async send(
    url: string,
    { method = "GET", headers = {}, body }: ApiRequest = {},
  ): Promise<ApiAnswer> {
    const { allowPrivate, url: api } = this.#account;
    const { origin } = new URL(api);
    const limitMs = method === "GET" ? transferMs(this.#account) : REQUEST_MS;
    const request = authorizedRequest(this.#account, {
      url,
      method,
      headers: {
        accept: "application/json",
        ...(body ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      body: body && JSON.stringify(body),
      trusts: (address) => address.origin === origin,
      allowPrivate,
      follow: false,
      readsRefusal: true,
      limits: { idleMs: Math.min(IDLE_MS, limitMs), totalMs: limitMs },
      signal: this.#signal,
    });
    const answer = method === "GET" ? await request : await request.catch(asNoAnswer);
    const { status } = answer;
    const isDone = (status >= 200 && status < 300) || HANDLED.has(status);
    if (!isDone) throw failureOf(answer);
    return { status, data: jsonIn(answer) };
  }
}

function failureOf({ status, headers, body }: GuardedAnswer): MantelError {
  const wait = retryAfterMs(headers);
  const extras = wait === undefined ? {} : { retryAfterMs: wait };
  const tooOften = rateError(status, headers, body);
  if (tooOften) return tooOften;
  if (status === 429) return new MantelError("rate_limited", TOO_OFTEN_NOW, extras);
  if (status === 412) return changedThere();
  if (status >= 500) return new NoAnswer(answeredWith(status), undefined, wait);
  const told = status === 400 ? INVALID : status === 403 ? NOT_PERMITTED : answeredWith(status);
  return new MantelError("conflict", told, extras);
}

function jsonIn({ body }: GuardedAnswer): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}
