import { availableParallelism, loadavg } from "node:os";
import { setImmediate, setTimeout as delay } from "node:timers/promises";

const POLL_MS = 10;
const MOST_LOAD = 20;
/** Waits take so many times as long on a slow or busy machine; `npm test` measures it when it starts. */
export const LOAD = Number(process.env["TEST_LOAD"] ?? 1);

/** As `LOAD`; more if the machine has become busier since. */
export function loadNow(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(LOAD, Math.min(MOST_LOAD, lastMinute / availableParallelism()));
}

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
  } while (performance.now() - startedAt < withinMs * loadNow());
  const waitedMs = Math.round(performance.now() - startedAt);
  throw new Error(`not within ${waitedMs} ms: ${condition.toString()}`, { cause });
}

/** Like `until`, by turns of the event loop and with the system's own clock: for tests that mock timers. */
export async function untilByTurns<T>(condition: () => T): Promise<Truthy<T>> {
  const startedAt = secondsNow();
  for (;;) {
    const value = condition();
    if (value) return value as Truthy<T>;
    if (secondsNow() - startedAt > TURNS_WITHIN_S * loadNow()) {
      throw new Error(`not yet: ${condition.toString()}`);
    }
    await setImmediate();
  }
}

const TURNS_WITHIN_S = 10;
const secondsNow = (): number => Number(process.hrtime.bigint()) / 1e9;
