import { setInterval } from "node:timers";
import type { Clock, Stop } from "./engine/automation.ts";

/** The longest time of one timer of Node. */
const LONGEST_MS = 2 ** 31 - 1;
const LOOK_EVERY_MS = 60_000;
/** A date that moves by more than the time that has passed was set. */
const SET_BY_MS = 2_000;

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

/** Calls when the date of the machine was set, within a minute. */
export function onClockSet(call: () => void): Stop {
  const difference = (): number => Date.now() - performance.now();
  let known = difference();
  const timer = setInterval(() => {
    const now = difference();
    const isSet = Math.abs(now - known) > SET_BY_MS;
    known = now;
    if (isSet) call();
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
