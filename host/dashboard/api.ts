import { compareClock } from "./home-time.ts";
import type { AnswerTo } from "./typed-paths.ts";

/**
 * A fault in the request: a JSON pointer into it (RFC 6901), and a message that follows the
 * pointer.
 */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly retryAfterMs?: number;
  readonly reason?: "revoked" | "expired";
  readonly errors?: readonly Fault[];
  readonly serviceError?: string;
}

/**
 * The signed-in identity, as reported by the host. It only decides what is shown: the host checks
 * every request by the cookie, which scripts cannot read.
 */
export interface SignedIn {
  /** The name of the token, for example of a display. */
  readonly name: string;
  readonly scope: readonly string[];
  /** Places in the API where it may only read; hosts of other versions may not tell them. */
  readonly readOnlyPaths?: readonly string[];
  /** True if it is a paired display. */
  readonly display: boolean;
}

/**
 * An error answer of the host, from its problem document. The code is `offline` if there was no
 * answer.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The code of the problem or, for an error of a plugin's service, the service's own. */
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  /** Reason for refusing a session or token that was valid before. */
  readonly reason: "revoked" | "expired" | undefined;
  /** All faults in the request, if the host listed them. */
  readonly faults: readonly Fault[];

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? `the host answered ${status}`);
    this.status = status;
    this.code = problem.serviceError ?? problem.code ?? "internal";
    this.retryAfterMs = problem.retryAfterMs;
    this.reason = problem.reason;
    this.faults = problem.errors ?? [];
  }
}

const DEADLINE_MS = 15_000;

type Reason = "revoked" | "expired" | undefined;

export interface OpenRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob;
  readonly signal: AbortSignal;
}

/**
 * API client. The browser identifies itself by the session cookie. Calls `onRefused` when the
 * session is refused.
 */
export class Api {
  readonly #onRefused: (reason: Reason) => void;
  #prefix = "/api/v1";
  #asking: Promise<SignedIn | undefined> | undefined;

  constructor(onRefused: (reason: Reason) => void) {
    this.#onRefused = onRefused;
  }

  /** Asks the host for the API prefix. Without an answer, the default prefix stays. */
  async discover(): Promise<void> {
    try {
      this.#prefix = (await this.#answer<{ prefix: string }>("/api", {})).prefix;
    } catch (error) {
      console.warn("could not read the API prefix; using the default", error);
    }
  }

  /**
   * Exchanges a token for a session of this browser. `replace` ends the current session.
   * @throws ApiError `unauthorized`, `link_used`; `signed_in` if there is a session and `replace`
   * is false
   */
  async signIn(token: string, { replace = false } = {}): Promise<SignedIn> {
    const init = sending("POST", { token, replace });
    const response = await this.#send(`${this.#prefix}/session`, { ...init, ...withDeadline() });
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as SignedIn;
  }

  /**
   * The identity signed in in this browser; `undefined` without a session.
   * @throws ApiError
   */
  async whoIsSignedIn(): Promise<SignedIn | undefined> {
    const response = await this.#send(`${this.#prefix}/session`, withDeadline());
    if (response.status === 401) return undefined;
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as SignedIn;
  }

  get<P extends string>(path: P): Promise<AnswerTo<"get", P>> {
    return this.#answer(this.#prefix + path, {});
  }

  post<P extends string>(
    path: P,
    body: unknown = {},
    deadlineMs?: number,
  ): Promise<AnswerTo<"post", P>> {
    return this.#answer(this.#prefix + path, sending("POST", body), deadlineMs);
  }

  /**
   * Changes a document that is at the given revision.
   * @throws ApiError with status 412 if the document is at another revision
   */
  change<M extends "PUT" | "POST" | "PATCH", P extends string>(
    method: M,
    path: P,
    { body = {}, revision }: { body?: unknown; revision: number },
  ): Promise<AnswerTo<Lowercase<M>, P>> {
    const headers = { "If-Match": `"${revision}"` };
    return this.#answer(this.#prefix + path, sending(method, body, headers));
  }

  delete<P extends string>(path: P): Promise<AnswerTo<"delete", P>> {
    return this.#answer(this.#prefix + path, { method: "DELETE" });
  }

  /**
   * Sends a change; the answer is `undefined` if it has no body.
   * @throws ApiError
   */
  send<M extends "POST" | "PUT" | "PATCH" | "DELETE", P extends string>(
    method: M,
    path: P,
    body?: unknown,
  ): Promise<AnswerTo<Lowercase<M>, P>> {
    const init = body === undefined ? { method } : sending(method, body);
    return this.#answer(this.#prefix + path, init);
  }

  /** The URL of a path below the prefix, for a link. */
  address(path: string): string {
    return this.#prefix + path;
  }

  /**
   * Sends a request whose answer is a stream or a file. It has no deadline; the caller's signal ends it.
   * @throws ApiError
   */
  open(path: string, init: OpenRequest): Promise<Response> {
    return this.#ask(this.#prefix + path, init);
  }

  async #answer<T>(url: string, init: RequestInit, deadlineMs = DEADLINE_MS): Promise<T> {
    const response = await this.#ask(url, { ...init, signal: AbortSignal.timeout(deadlineMs) });
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async #ask(url: string, init: RequestInit, isAgain = false): Promise<Response> {
    const response = await this.#send(url, init);
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    // Another tab of this browser may have renewed the session in the meantime.
    if (!isAgain && (await this.#isSignedIn())) return this.#ask(url, init, true);
    this.#onRefused(problem.reason);
    throw problem;
  }

  /** Asks once for all calls that were refused at the same time. */
  async #isSignedIn(): Promise<boolean> {
    this.#asking ??= this.whoIsSignedIn().finally(() => (this.#asking = undefined));
    return (await this.#asking) !== undefined;
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    // Node's types, which check the tests, lack `cache`.
    const request: RequestInit & { cache: "no-store" } = { ...init, cache: "no-store" };
    const response = await fetch(url, request).catch((cause: unknown) => {
      throw new ApiError(0, { code: "offline", detail: String(cause) });
    });
    compareClock(response.headers.get("Date"));
    return response;
  }
}

function withDeadline(): RequestInit {
  return { signal: AbortSignal.timeout(DEADLINE_MS) };
}

function sending(method: string, body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

async function problemOf(response: Response): Promise<ApiError> {
  const problem: unknown = await response.json().catch(() => undefined);
  return new ApiError(response.status, typeof problem === "object" && problem ? problem : {});
}
