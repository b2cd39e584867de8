/** A refusal by the host, as its problem document says it, or `offline` when there was no answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, problem: { code?: string; detail?: string; retryAfterMs?: number }) {
    super(problem.detail ?? `the host answered ${status}`);
    this.status = status;
    this.code = problem.code ?? "internal";
    this.retryAfterMs = problem.retryAfterMs;
  }
}

const DEADLINE_MS = 15_000;

/** Calls to the host with the token. A token that is refused ends the session through `onRefused`. */
export class Api {
  readonly #token: string;
  readonly #onRefused: () => void;
  #prefix = "/api/v1";

  constructor(token: string, onRefused: () => void) {
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
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    return this.#answer<T>(this.#prefix + path, init, deadlineMs);
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
    return (await response.json()) as T;
  }

  async #ask(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${this.#token}`);
    const response = await fetch(url, { ...init, headers, cache: "no-store" }).catch(
      (cause: unknown) => {
        throw new ApiError(0, { code: "offline", detail: String(cause) });
      },
    );
    if (response.ok) return response;
    if (response.status === 401) this.#onRefused();
    throw await problemOf(response);
  }
}

async function problemOf(response: Response): Promise<ApiError> {
  const problem: unknown = await response.json().catch(() => undefined);
  return new ApiError(response.status, typeof problem === "object" && problem ? problem : {});
}
