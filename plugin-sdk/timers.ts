import type { PluginContext } from "./context.ts";

/** Calls `run` every `intervalMs` milliseconds until the generation ends. */
export function every(
  { onDispose }: Pick<PluginContext<never, never>, "onDispose">,
  intervalMs: number,
  run: () => void,
): void {
  const timer = setInterval(run, intervalMs);
  onDispose(() => clearInterval(timer));
}

/**
 * A function that is called once after a delay, however often it is requested meanwhile. The owner stops it:
 * `onDispose(() => call.stop())`.
 */
export class DelayedCall {
  readonly #call: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(call: () => void) {
    this.#call = call;
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Requests the call after `delayMs` milliseconds. Does nothing while a call is waiting. */
  start(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.flush(), delayMs);
  }

  /** Requests the call after `delayMs` milliseconds, in place of a waiting one. */
  restart(delayMs: number): void {
    this.stop();
    this.start(delayMs);
  }

  /** Makes a waiting call immediately. */
  flush(): void {
    if (!this.#timer) return;
    this.stop();
    this.#call();
  }

  /** Cancels a waiting call. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * A function that is called immediately, or an interval after its last call has returned: one that takes longer than the
 * interval leaves time for other work, too. The owner stops it: `onDispose(() => throttle.stop())`.
 */
export class Throttle {
  readonly #intervalMs: number;
  readonly #call: () => void;
  readonly #delayed = new DelayedCall(() => this.run());
  #calledAt = -Infinity;

  /** @param intervalMs minimum time from the end of a call to the next one, in milliseconds */
  constructor(intervalMs: number, call: () => void) {
    this.#intervalMs = intervalMs;
    this.#call = call;
  }

  /** Requests a call. */
  request(): void {
    const leftMs = this.#calledAt + this.#intervalMs - performance.now();
    if (leftMs <= 0) this.run();
    else this.#delayed.start(leftMs);
  }

  /** Calls the function immediately, in place of a waiting call. */
  run(): void {
    this.#delayed.stop();
    this.#calledAt = performance.now();
    try {
      this.#call();
    } finally {
      this.#calledAt = performance.now();
    }
  }

  /** Makes a waiting call immediately. */
  flush(): void {
    if (this.#delayed.isWaiting) this.run();
  }

  /** Cancels a waiting call. */
  stop(): void {
    this.#delayed.stop();
  }
}
