const ASK_EVERY_MS = 50;
const PATIENCE_MS = 30_000;

/** Asks a host for its health all the time, and knows the longest wait. */
export class AnswerTimes {
  readonly #url: string;
  readonly #timer = setInterval(() => void this.#ask(), ASK_EVERY_MS);
  #askedAt: number | undefined;
  #slowestMs = 0;

  constructor(url: string) {
    this.#url = `${url}/api/v1/health`;
  }

  reset(): void {
    this.#slowestMs = 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** The longest wait since the last reset, also one that has not ended. */
  get slowestMs(): number {
    const waitedMs = this.#askedAt === undefined ? 0 : performance.now() - this.#askedAt;
    return Math.max(this.#slowestMs, waitedMs);
  }

  async #ask(): Promise<void> {
    if (this.#askedAt !== undefined) return;
    this.#askedAt = performance.now();
    try {
      await (await fetch(this.#url, { signal: AbortSignal.timeout(PATIENCE_MS) })).text();
    } catch {
      return; // its end is found otherwise
    } finally {
      this.#slowestMs = this.slowestMs;
      this.#askedAt = undefined;
    }
  }
}
