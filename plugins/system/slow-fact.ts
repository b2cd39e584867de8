import type { Log } from "@mantel/plugin-sdk";

export interface SlowFactOptions<T> {
  readonly name: string;
  readonly everyMs: number;
  readonly read: () => Promise<T>;
  /** What is known before the first reading. */
  readonly before: T;
  readonly log: Log;
}

/**
 * A fact whose reading is slow, starts processes, or may hang, as a listing of disks does on a network
 * share that is away. It is read in the background at its own pace; the last value is always there.
 */
export class SlowFact<T> {
  readonly #options: SlowFactOptions<T>;
  #value: T;
  #readAt = -Infinity;
  #reading = false;
  #failing = false;

  /** Reads at once. */
  constructor(options: SlowFactOptions<T>) {
    this.#options = options;
    this.#value = options.before;
    this.#refresh();
  }

  /** The last value; a new reading is started when it is due, and never while one is under way. */
  get(): T {
    if (performance.now() - this.#readAt >= this.#options.everyMs) this.#refresh();
    return this.#value;
  }

  #refresh(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#readAt = performance.now();
    void this.#read().finally(() => (this.#reading = false));
  }

  /** A failure keeps the last value, and is logged when it is the first in a row. */
  async #read(): Promise<void> {
    const { name, read, log } = this.#options;
    try {
      this.#value = await read();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn("a fact cannot be read", { fact: name, error });
      this.#failing = true;
    }
  }
}
