import type { Clock } from "./engine/automation.ts";

/** The longest time of one timer of Node. */
const LONGEST_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const endsAt = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) call();
      else timer = setTimeout(wait, Math.min(Math.ceil(leftMs), LONGEST_MS));
    };
    timer = setTimeout(wait, Math.min(Math.max(0, ms), LONGEST_MS));
    return () => clearTimeout(timer);
  },
};
