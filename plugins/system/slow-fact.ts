import type { Log } from "@mantel/plugin-sdk";

export interface SlowFactOptions<T> {
  readonly name: string;
  readonly everyMs: number;
  readonly read: () => Promise<T>;
  /** The value before the first reading. */
  readonly before: T;
  readonly log: Log;
}

/**
 * A value whose reading is slow, starts processes or may hang, such as listing disks with an
 * unreachable network share. It is read in the background at its own interval; the last value is
 * always available.
 */
export class SlowFact<T> {
  readonly #options: SlowFactOptions<T>;
  #value: T;
  #readAt = -Infinity;
  #reading = false;
  #failing = false;

  constructor(options: SlowFactOptions<T>) {
    this.#options = options;
    this.#value = options.before;
  }

  /** The last value. */
  get value(): T {
    return this.#value;
  }

  /** Starts a reading if it is due and none is running. The first is due at once. */
  refresh(): void {
    if (this.#reading || performance.now() - this.#readAt < this.#options.everyMs) return;
    this.#reading = true;
    this.#readAt = performance.now();
    void this.#read().finally(() => (this.#reading = false));
  }

  /** A failure keeps the last value. Only the first failure in a row is logged. */
  async #read(): Promise<void> {
    const { name, read, log } = this.#options;
    try {
      this.#value = await read();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn("a value cannot be read", { fact: name, error });
      this.#failing = true;
    }
  }
}
