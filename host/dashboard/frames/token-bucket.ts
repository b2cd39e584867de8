/** Rate limiter (token bucket): a burst, and a number of tokens added per second. */
export class TokenBucket {
  readonly #burst: number;
  readonly #perSecond: number;
  #remaining: number;
  #countedAt = performance.now();

  constructor({ burst, perSecond }: { readonly burst: number; readonly perSecond: number }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#remaining = burst;
  }

  /** Takes a token, if there is one. */
  has(): boolean {
    const now = performance.now();
    this.#remaining = Math.min(
      this.#burst,
      this.#remaining + ((now - this.#countedAt) / 1_000) * this.#perSecond,
    );
    this.#countedAt = now;
    if (this.#remaining < 1) return false;
    this.#remaining--;
    return true;
  }

  /**
   * Takes a token.
   * @throws Error with the code `rate_limited` if all are used up; `what` is the plural noun for its
   * message
   */
  take(what: string): void {
    if (this.has()) return;
    throw Object.assign(new Error(`the widget requests too many ${what}`), {
      code: "rate_limited",
    });
  }
}
