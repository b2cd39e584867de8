import { signal } from "@preact/signals-core";

/** A smaller difference changes nothing that people notice on a wall. */
const TOLERATED_MS = 2 * 60_000;

/** Milliseconds by which the clock of this screen is ahead of the host's; 0 if they differ by less than is tolerated. */
export const aheadMs = /* @__PURE__ */ signal(0); // so that the script before the first paint leaves it out

/** The time of the home in epoch milliseconds. Read it while drawing, so that a correction draws again. */
export const now = (): number => Date.now() - aheadMs.value;

/** Compares this clock with the `Date` of an answer of the host. */
export function compareClock(date: string | null): void {
  const ahead = Date.now() - Date.parse(String(date));
  if (Math.abs(ahead - aheadMs.peek()) > TOLERATED_MS)
    aheadMs.value = Math.abs(ahead) > TOLERATED_MS ? ahead : 0;
}
