/** Calls `work` when it has been asked for and then not again for a while, or has been put off long enough. */
export class Debounce {
  readonly #quietMs: number;
  readonly #longestMs: number;
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(
    { quietMs, longestMs }: { readonly quietMs: number; readonly longestMs: number },
    work: () => void,
  ) {
    this.#quietMs = quietMs;
    this.#longestMs = longestMs;
    this.#work = work;
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  ask(): void {
    const now = performance.now();
    if (this.#timer === undefined) this.#since = now;
    clearTimeout(this.#timer);
    const leftMs = this.#since + this.#longestMs - now;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, Math.min(this.#quietMs, leftMs)));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#timer = undefined;
    this.#work();
  }
}
