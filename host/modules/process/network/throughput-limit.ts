const TICK_MS = 5;
/** The most ticks that count at once. Ticks are late on a busy machine; this many cost the host about 2 ms. */
const MOST_TICKS = 4;
/** Node reads a socket in chunks of up to this size. */
const CHUNK = 65_536;
/** The least charge for a chunk: small ones take the host's time too. */
const LEAST_CHARGE = 8_192;

/**
 * The bytes per second that all connections of one process may move together, granted in ticks. Without this limit
 * 256 connections at full speed delay everything else in the host by half a second.
 */
export class ThroughputLimit {
  readonly #perTick: number;
  #left: number;
  #filledAt = performance.now();
  readonly #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesPerSecond: number) {
    this.#perTick = (bytesPerSecond * TICK_MS) / 1_000;
    this.#left = this.#perTick;
  }

  /** Counts a chunk. False if its sender must wait for its turn. */
  spend(bytes: number): boolean {
    this.#fill();
    this.#left -= Math.max(bytes, LEAST_CHARGE);
    return this.#left > 0 && this.#queue.length === 0;
  }

  /** Calls `resume` when another chunk may be sent; connections take turns. */
  waitForTurn(resume: () => void): void {
    this.#queue.push(resume);
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #tick(): void {
    this.#fill();
    for (let remaining = this.#left; remaining > 0 && this.#queue.length > 0; remaining -= CHUNK) {
      this.#queue.shift()?.();
    }
    this.#timer = this.#queue.length > 0 ? setTimeout(() => this.#tick(), TICK_MS) : undefined;
  }

  #fill(): void {
    const ticks = Math.floor((performance.now() - this.#filledAt) / TICK_MS);
    if (ticks === 0) return;
    this.#filledAt += ticks * TICK_MS;
    this.#left = Math.min(MOST_TICKS * this.#perTick, this.#left + ticks * this.#perTick);
  }
}
