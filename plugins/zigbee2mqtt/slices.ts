import { setImmediate } from "node:timers/promises";

/** After this much work in one go other messages get their turn. */
const SLICE_MS = 5;

/**
 * Runs `work` in slices of a few milliseconds, and calls `done` with its result unless `signal` is aborted before.
 * Work that fits into the first slice is done when this returns.
 */
export function runInSlices<T>(
  work: Generator<undefined, T>,
  signal: AbortSignal,
  done: (result: T) => void,
): void {
  const runSlice = (): { readonly value: T } | undefined => {
    const endsAt = performance.now() + SLICE_MS;
    while (performance.now() < endsAt) {
      const step = work.next();
      if (step.done === true) return step;
    }
    return undefined;
  };
  const runOthers = async () => {
    for (let result = undefined as ReturnType<typeof runSlice>; !signal.aborted;) {
      await setImmediate();
      if (result) return done(result.value); // in a turn of its own
      result = runSlice();
    }
  };
  const first = runSlice();
  if (first) done(first.value);
  else void runOthers();
}

/** Runs `work` in such slices. Resolves when it is done. */
export async function inSlices(work: Generator<undefined, void>): Promise<void> {
  let endsAt = performance.now() + SLICE_MS;
  while (work.next().done !== true) {
    if (performance.now() < endsAt) continue;
    await setImmediate();
    endsAt = performance.now() + SLICE_MS;
  }
}
