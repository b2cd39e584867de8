const RETRIED = new Set([409, 429]);
/** Longer waits are the caller's decision. */
const MAX_WAIT_MS = 30_000;

interface Sending {
  readonly send: (request: Request) => Promise<Response>;
  readonly retries: number;
}

/**
 * Sends a request, and repeats it after the time that the host names if its answer is 409 or 429. Such an answer means
 * that nothing was done.
 */
export async function sendWithRetries(
  request: Request,
  { send, retries }: Sending,
): Promise<Response> {
  for (let left = retries; ; left--) {
    const response = await send(request.clone());
    const waitMs = RETRIED.has(response.status) ? retryAfterMs(response) : undefined;
    if (left <= 0 || waitMs === undefined || waitMs > MAX_WAIT_MS) return response;
    await response.body?.cancel();
    await pause(waitMs, request.signal);
    request.signal.throwIfAborted();
  }
}

/** The time in `Retry-After`, which the host gives in seconds; `undefined` without one. */
function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = /^\d{1,9}$/.exec(headers.get("Retry-After") ?? "")?.[0];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Resolves after the time, or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
