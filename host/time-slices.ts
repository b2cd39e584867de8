import { setImmediate as turn } from "node:timers/promises";

/** After this much work the rest of the host gets its turn. */
const TURN_MS = 5;

/** Runs work of many steps, with turns for the rest of the host in between. */
export async function inTimeSlices<T>(work: Iterator<undefined, T>): Promise<T> {
  let endsAt = performance.now() + TURN_MS;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() < endsAt) continue;
    await turn();
    endsAt = performance.now() + TURN_MS;
  }
}

/** Runs all steps at once. */
export function runWithoutPauses<T>(work: Iterator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
