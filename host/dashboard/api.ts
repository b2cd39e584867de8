/** Something wrong with what was sent: a JSON pointer into it (RFC 6901), and a sentence's rest. */
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
}

/** A refusal by the host, as its problem document says it, or `offline` when there was no answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  /** Why a token that was valid once is refused. */
  readonly reason: "revoked" | "expired" | undefined;
  /** Every fault of what was sent, when the host listed them. */
  readonly faults: readonly Fault[];

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? `the host answered ${status}`);
    this.status = status;
    this.code = problem.code ?? "internal";
    this.retryAfterMs = problem.retryAfterMs;
    this.reason = problem.reason;
    this.faults = problem.errors ?? [];
  }
}

const DEADLINE_MS = 15_000;
const FILE_DEADLINE_MS = 60_000;

type Reason = "revoked" | "expired" | undefined;

/**
 * Calls to the host with the token of the moment, which may be renewed while this is used. A token that
 * is refused ends the session through `onRefused`.
 */
export class Api {
  readonly #token: () => string | undefined;
  readonly #onRefused: (reason: Reason) => void;
  #prefix = "/api/v1";

  constructor(token: () => string | undefined, onRefused: (reason: Reason) => void) {
    this.#token = token;
    this.#onRefused = onRefused;
  }

  /** Asks which prefix is in use. Without an answer, the usual one stays. */
  async discover(): Promise<void> {
    try {
      this.#prefix = (await this.#answer<{ prefix: string }>("/api", {})).prefix;
    } catch (error) {
      console.warn("the host does not say where its routes are", error);
    }
  }

  get<T>(path: string): Promise<T> {
    return this.#answer<T>(this.#prefix + path, {});
  }

  post<T>(path: string, body: unknown = {}, deadlineMs?: number): Promise<T> {
    return this.#answer<T>(this.#prefix + path, sending("POST", body), deadlineMs);
  }

  /**
   * Changes a document that stands at a revision, and only there.
   * @throws ApiError with status 412 when it stands at another one by now
   */
  change<T>(
    method: "PUT" | "POST" | "PATCH",
    path: string,
    { body = {}, revision }: { body?: unknown; revision: number },
  ): Promise<T> {
    const headers = { "If-Match": `"${revision}"` };
    return this.#answer<T>(this.#prefix + path, sending(method, body, headers));
  }

  delete<T>(path: string): Promise<T> {
    return this.#answer<T>(this.#prefix + path, { method: "DELETE" });
  }

  /** Changes something; the answer is `undefined` when it has no body. @throws ApiError */
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> {
    const init = body === undefined ? { method } : sending(method, body);
    return this.#answer<T>(this.#prefix + path, init);
  }

  /** Asks for a file. @throws ApiError */
  async download(path: string, body: unknown): Promise<Blob> {
    const init = { ...sending("POST", body), signal: AbortSignal.timeout(FILE_DEADLINE_MS) };
    return (await this.#ask(this.#prefix + path, init)).blob();
  }

  /** Where a path below the prefix is, for a link. */
  address(path: string): string {
    return this.#prefix + path;
  }

  /**
   * Opens a stream without a deadline; the caller's signal ends it.
   * @throws ApiError
   */
  async open(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    return this.#ask(this.#prefix + path, { headers, signal });
  }

  async #answer<T>(url: string, init: RequestInit, deadlineMs = DEADLINE_MS): Promise<T> {
    const response = await this.#ask(url, { ...init, signal: AbortSignal.timeout(deadlineMs) });
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async #ask(url: string, init: RequestInit): Promise<Response> {
    const token = this.#token();
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    const response = await fetch(url, { ...init, headers, cache: "no-store" }).catch(
      (cause: unknown) => {
        throw new ApiError(0, { code: "offline", detail: String(cause) });
      },
    );
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    // Another tab of this browser may have had the token renewed in between.
    if (token !== this.#token()) return this.#ask(url, init);
    this.#onRefused(problem.reason);
    throw problem;
  }
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
