import { MantelError } from "@mantel/plugin-sdk/errors";
import type { PacedKind } from "@mantel/plugin-sdk/manifest";
import type { Bridge, Rate } from "./bridge.ts";

/** A command that would wait longer than this for its bridge is refused. */
export const LONGEST_WAIT_MS = 1_000;

/** What is asked of a bridge, as far as its rates depend on it. */
export interface Paced {
  readonly kind: PacedKind;
  /** As the device or scene names it; each has the rates of the bridge to itself. */
  readonly gateway: string | undefined;
}

/** Lets work through to each bridge at the rates that the bridge declares, in the order it came. */
export class Paces {
  readonly #paces = new Map<string, Pace>();

  of({ view, limits }: Bridge, { kind, gateway }: Paced): Pace {
    const own = limits.rates?.find(({ kinds }) => kinds.includes(kind));
    const key = JSON.stringify([view.id, gateway, own?.kinds]);
    const rate = own ?? limits;
    const known = this.#paces.get(key);
    if (known?.has(rate)) return known;
    this.#forgetIdle();
    const pace = new Pace(gateway === undefined ? view.id : `${gateway} of ${view.id}`, rate);
    this.#paces.set(key, pace);
    return pace;
  }

  /** An idle pace is like a new one, and plugins may make names of gateways up without end. */
  #forgetIdle(): void {
    for (const [key, pace] of this.#paces) if (pace.isIdle) this.#paces.delete(key);
  }
}

/** A place before a bridge, good for one piece of work, which may come later than the place. */
export type Place = (work: () => void) => void;

/** A token bucket (the clock is monotonic) and the queue before it. */
export class Pace {
  /** Whose it is, for people. */
  readonly #owner: string;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt = performance.now();
  /** Places that are taken and not used up: work in the queue, and work that will come to it. */
  #reserved = 0;
  readonly #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(owner: string, { commandsPerSecond, burst }: Rate) {
    this.#owner = owner;
    this.#perSecond = commandsPerSecond;
    this.#burst = Math.max(1, burst); // a bucket for less than one would never let anything through
    this.#tokens = this.#burst;
  }

  has({ commandsPerSecond, burst }: Rate): boolean {
    return this.#perSecond === commandsPerSecond && this.#burst === Math.max(1, burst);
  }

  /** True when nobody waits, and all that may come at once may come now. */
  get isIdle(): boolean {
    return this.#reserved === 0 && this.#waitMs(this.#burst) === 0;
  }

  /**
   * Takes a place. Its work is done as soon as the bridge may be asked, which may be at once.
   * @throws MantelError `bridge_rate_limited` when the bridge cannot be asked within `longestWaitMs`
   */
  reserve(longestWaitMs: number): Place {
    const waitMs = this.#waitMs(this.#reserved + 1);
    if (waitMs > longestWaitMs) {
      throw new MantelError(
        "bridge_rate_limited",
        `${this.#owner} takes ${this.#perSecond} commands per second and ${this.#reserved} wait`,
        { retryAfterMs: Math.ceil(waitMs - longestWaitMs) },
      );
    }
    this.#reserved++;
    return (work) => {
      this.#queue.push(work);
      if (this.#timer === undefined) this.#letThrough();
    };
  }

  #letThrough(): void {
    this.#timer = undefined;
    while (this.#queue.length > 0 && this.#waitMs(1) === 0) {
      this.#tokens--;
      this.#reserved--;
      this.#queue.shift()?.();
    }
    if (this.#queue.length === 0) return;
    this.#timer ??= setTimeout(() => this.#letThrough(), Math.ceil(this.#waitMs(1)));
  }

  /** Milliseconds until there are as many tokens; a burst may be exceeded by waiting. */
  #waitMs(tokens: number): number {
    const now = performance.now();
    const perMs = this.#perSecond / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * perMs);
    this.#filledAt = now;
    return Math.max(0, (tokens - this.#tokens) / perMs);
  }
}
