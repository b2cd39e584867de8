import type { Clock, StepResult } from "./automation.ts";

/** Attempts of an action that is refused because of a rate. */
const ATTEMPTS = 5;
const LONGEST_RETRY_MS = 10_000;
const USUAL_RETRY_MS = 200;

/**
 * Does what may be refused because of a rate, and tries again after the time that the refusal names. Never rejects.
 * @param options.busy called with -1 when a wait for the next attempt begins, and with 1 when it ends
 */
export async function attempt(
  { clock, busy }: { readonly clock: Clock; readonly busy: (difference: 1 | -1) => void },
  action: () => Promise<void>,
): Promise<StepResult> {
  for (let attempts = 1; ; attempts++) {
    try {
      await action();
      return { result: "ok" };
    } catch (error) {
      const retryMs = attempts < ATTEMPTS ? retryAfterOf(error) : undefined;
      if (retryMs === undefined) return { result: "failed", error: sentenceOf(error) };
      busy(-1);
      await new Promise<void>((resolve) => {
        clock.after(retryMs, () => {
          busy(1);
          resolve();
        });
      });
    }
  }
}

/** Milliseconds after which a refused action may be tried again; `undefined` for any other error. */
function retryAfterOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, extras } = error as { code?: unknown; extras?: { retryAfterMs?: number } };
  if (code !== "bridge_rate_limited" && code !== "rate_limited") return undefined;
  return Math.min(extras?.retryAfterMs ?? USUAL_RETRY_MS, LONGEST_RETRY_MS);
}

/** The message of an error, as a user-facing sentence. */
export function sentenceOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
}
