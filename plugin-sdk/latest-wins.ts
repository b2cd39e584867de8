/** A rate: so many at once after a pause, and so many a second. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** A token bucket. Costs may be fractions. */
export class RateBudget {
  readonly #rate: Rate;
  #left: number;
  #filledAt = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** Milliseconds until `cost` can be taken; 0 if it can be taken now. A cost above the burst needs a full budget. */
  waitMs(cost: number): number {
    this.#fill();
    const missing = Math.min(cost, this.#rate.burst) - this.#left;
    return missing <= 0 ? 0 : Math.ceil((1_000 * missing) / this.#rate.perSecond);
  }

  /** Takes `cost`, also if it is not there yet. */
  take(cost: number): void {
    this.#fill();
    this.#left -= cost;
  }

  #fill(): void {
    const now = performance.now();
    const { burst, perSecond } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((now - this.#filledAt) * perSecond) / 1_000);
    this.#filledAt = now;
  }
}

export interface LatestWinsOptions<T> {
  /** Milliseconds that this value has to wait; 0 to pass it on now. Called again after the wait. */
  readonly waitMs: (value: T) => number;
  readonly pass: (value: T) => void;
  /** Called for a value that a newer one replaced while it waited. */
  readonly replaced: (value: T) => void;
}

/** Passes values on at a limited rate. While one waits, a newer value replaces it. */
export class LatestWins<T> {
  readonly #options: LatestWinsOptions<T>;
  #waiting: { readonly value: T } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LatestWinsOptions<T>) {
    this.#options = options;
  }

  put(value: T): void {
    const before = this.#waiting;
    this.#waiting = { value };
    if (before) this.#options.replaced(before.value);
    if (this.#timer === undefined) this.#attempt();
  }

  /** Passes a waiting value on now, whatever the rate. */
  flush(): void {
    const { value } = this.#take() ?? {};
    if (value !== undefined) this.#options.pass(value);
  }

  /** Drops a waiting value. */
  stop(): void {
    const { value } = this.#take() ?? {};
    if (value !== undefined) this.#options.replaced(value);
  }

  #attempt(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const waitMs = this.#options.waitMs(waiting.value);
    if (waitMs > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#attempt();
      }, waitMs);
      return;
    }
    this.#waiting = undefined;
    this.#options.pass(waiting.value);
  }

  #take(): { readonly value: T } | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return waiting;
  }
}
