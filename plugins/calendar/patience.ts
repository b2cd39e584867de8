import { setTimeout as delay } from "node:timers/promises";

/** The clocks by which waiting ends. Both are in milliseconds, from any beginning. */
export interface Clocks {
  /** Processor time of this process. */
  readonly cpu: () => number;
  readonly wall: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export const CLOCKS: Clocks = {
  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  wall: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
};

/** The wait for results, by whichever is over first. */
export interface Patience {
  /** Processor time, because a busy machine gives this process little of it. */
  readonly cpuMs: number;
  /** Elapsed time, after which no caller waits for the answer. */
  readonly wallMs: number;
}

/** Stands for a result that was not ready in time. */
export const LATE = Symbol("late");

const STEP_MS = 20;

/** The result of each work, or `LATE`. */
export async function inTime<T>(
  works: readonly Promise<T>[],
  patience: Patience,
  clocks: Clocks,
): Promise<(T | typeof LATE)[]> {
  const ended = new AbortController();
  const late = runOut(patience, clocks, ended.signal);
  const results = await Promise.all(works.map((work) => Promise.race([work, late])));
  ended.abort();
  return results;
}

async function runOut(
  { cpuMs, wallMs }: Patience,
  { cpu, wall, sleep }: Clocks,
  signal: AbortSignal,
): Promise<typeof LATE> {
  const [cpuAtStart, wallAtStart] = [cpu(), wall()];
  while (!signal.aborted) {
    await sleep(STEP_MS, signal);
    if (cpu() - cpuAtStart >= cpuMs || wall() - wallAtStart >= wallMs) break;
  }
  return LATE;
}
