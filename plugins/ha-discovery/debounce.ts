import { DelayedCall } from "@mantel/plugin-sdk";

/** Calls `work` when it has been asked for and then not again for a while, or has been put off long enough. */
export class Debounce {
  readonly #quietMs: number;
  readonly #longestMs: number;
  readonly #delayed: DelayedCall;
  #since = 0;

  constructor(
    { quietMs, longestMs }: { readonly quietMs: number; readonly longestMs: number },
    work: () => void,
  ) {
    this.#quietMs = quietMs;
    this.#longestMs = longestMs;
    this.#delayed = new DelayedCall(work);
  }

  get isWaiting(): boolean {
    return this.#delayed.isWaiting;
  }

  ask(): void {
    const now = performance.now();
    if (!this.isWaiting) this.#since = now;
    const leftMs = this.#since + this.#longestMs - now;
    this.#delayed.restart(Math.max(0, Math.min(this.#quietMs, leftMs)));
  }

  stop(): void {
    this.#delayed.stop();
  }
}
