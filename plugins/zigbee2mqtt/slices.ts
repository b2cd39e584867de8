import { setImmediate } from "node:timers/promises";

/** After this much work in one go other messages get their turn. */
const SLICE_MS = 10;

/**
 * Runs `work` in slices of a few milliseconds, and calls `done` with its result unless `signal` is aborted before.
 * Work that fits into the first slice is done when this returns.
 */
export function runInSlices<T>(
  work: Generator<undefined, T>,
  signal: AbortSignal,
  done: (result: T) => void,
): void {
  const runSlice = (): boolean => {
    const endsAt = performance.now() + SLICE_MS;
    while (performance.now() < endsAt) {
      const step = work.next();
      if (step.done !== true) continue;
      done(step.value);
      return true;
    }
    return false;
  };
  const runOthers = async () => {
    do await setImmediate();
    while (!signal.aborted && !runSlice());
  };
  if (!runSlice()) void runOthers();
}
