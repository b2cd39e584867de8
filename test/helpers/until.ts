import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 10;
/** Waits take so many times as long on a slow or busy machine; `npm test` measures it. */
export const LOAD = Number(process.env["TEST_LOAD"] ?? 1);

type Truthy<T> = Exclude<T, false | 0 | "" | null | undefined | void>;

/**
 * Waits until `condition` gives something truthy, and returns it. A condition that throws counts as
 * not met yet.
 *
 * @throws Error with the condition's own source, and its last error as cause, after `withinMs`
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { withinMs = 5_000 }: { withinMs?: number } = {},
): Promise<Truthy<T>> {
  const startedAt = performance.now();
  const endsAt = startedAt + withinMs * LOAD;
  let cause: unknown;
  do {
    try {
      const value = await condition();
      if (value) return value as Truthy<T>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await delay(POLL_MS);
  } while (performance.now() < endsAt);
  const waitedMs = Math.round(performance.now() - startedAt);
  throw new Error(`not within ${waitedMs} ms: ${condition.toString()}`, { cause });
}
