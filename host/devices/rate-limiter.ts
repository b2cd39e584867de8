import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RateLimitedKind } from "@mantel/plugin-sdk/manifest";
import type { Bridge, Rate } from "./bridge.ts";

/** A command that would wait longer than this for its bridge is refused. */
export const LONGEST_WAIT_MS = 1_000;

/** The properties of a command that its rate depends on. */
export interface RateLimited {
  readonly kind: RateLimitedKind;
  /** As the device or scene names it; each gateway has its own rates. */
  readonly gateway: string | undefined;
}

/** Limits the rate of each bridge as its manifest declares, in the order of arrival. */
export class RateLimiters {
  readonly #limiters = new Map<string, RateLimiter>();

  of({ view, limits }: Bridge, { kind, gateway }: RateLimited): RateLimiter {
    const own = limits.rates?.find(({ kinds }) => kinds.includes(kind));
    const key = JSON.stringify([view.id, gateway, own?.kinds]);
    const rate = own ?? limits;
    const known = this.#limiters.get(key);
    if (known?.has(rate)) return known;
    this.#forgetIdle();
    const limiter = new RateLimiter(
      gateway === undefined ? view.id : `${gateway} of ${view.id}`,
      rate,
    );
    this.#limiters.set(key, limiter);
    return limiter;
  }

  /** Deletes idle limiters: they equal new ones, and plugins may invent any number of gateways. */
  #forgetIdle(): void {
    for (const [key, limiter] of this.#limiters) if (limiter.isIdle) this.#limiters.delete(key);
  }
}

/** A place in the queue of a bridge, valid for one piece of work, which may follow later. */
export type Reservation = (work: () => void) => void;

/** A token bucket (with a monotonic clock) and its queue. */
export class RateLimiter {
  /** The user-facing name of its bridge or gateway. */
  readonly #owner: string;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt = performance.now();
  /** Reserved places: work in the queue, and work that will follow. */
  #reserved = 0;
  readonly #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(owner: string, { commandsPerSecond, burst }: Rate) {
    this.#owner = owner;
    this.#perSecond = commandsPerSecond;
    this.#burst = Math.max(1, burst); // a smaller bucket would never let anything through
    this.#tokens = this.#burst;
  }

  has({ commandsPerSecond, burst }: Rate): boolean {
    return this.#perSecond === commandsPerSecond && this.#burst === Math.max(1, burst);
  }

  /** True if nobody waits and the bucket is full. */
  get isIdle(): boolean {
    return this.#reserved === 0 && this.#waitMs(this.#burst) === 0;
  }

  /**
   * Reserves a place. Its work runs as soon as the rate allows, possibly at once.
   * @throws MantelError `bridge_rate_limited` if that is not within `longestWaitMs`
   */
  reserve(longestWaitMs: number): Reservation {
    const waitMs = this.#waitMs(this.#reserved + 1);
    if (waitMs > longestWaitMs) {
      throw new MantelError(
        "bridge_rate_limited",
        `${this.#owner} takes ${this.#perSecond} commands per second, and ${this.#reserved} already wait`,
        { retryAfterMs: Math.ceil(waitMs - longestWaitMs) },
      );
    }
    this.#reserved++;
    return (work) => {
      this.#queue.push(work);
      if (this.#timer === undefined) this.#runNext();
    };
  }

  #runNext(): void {
    this.#timer = undefined;
    while (this.#queue.length > 0 && this.#waitMs(1) === 0) {
      this.#tokens--;
      this.#reserved--;
      this.#queue.shift()?.();
    }
    if (this.#queue.length === 0) return;
    this.#timer ??= setTimeout(() => this.#runNext(), Math.ceil(this.#waitMs(1)));
  }

  /** Milliseconds until there are this many tokens; waiting makes more than a burst possible. */
  #waitMs(tokens: number): number {
    const now = performance.now();
    const perMs = this.#perSecond / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * perMs);
    this.#filledAt = now;
    return Math.max(0, (tokens - this.#tokens) / perMs);
  }
}
