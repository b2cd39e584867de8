import type { Clock, Stop } from "./automation.ts";

/** One timer that knows how much of its time is left. */
export interface Timer {
  readonly stop: Stop;
  /** Milliseconds until it fires. */
  readonly leftMs: () => number;
}

export function startTimer(clock: Clock, ms: number, call: () => void): Timer {
  const firesAt = clock.monotonic() + ms;
  return {
    stop: clock.after(Math.max(0, ms), call),
    leftMs: () => Math.max(0, firesAt - clock.monotonic()),
  };
}
