const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const WINDOW_MS = 10 * 60_000;
const CRASHES_TO_QUARANTINE = 5;

/** Decides after a crash: restart after a growing wait, or quarantine. */
export class RestartPolicy {
  #crashes: number[] = [];
  #waitMs = FIRST_WAIT_MS;

  /** Milliseconds to wait before the next start, or `undefined` for quarantine. */
  crashed(at: number = performance.now()): number | undefined {
    this.#crashes = [...this.#crashes.filter((each) => at - each < WINDOW_MS), at];
    if (this.#crashes.length >= CRASHES_TO_QUARANTINE) return undefined;
    if (this.#crashes.length === 1) this.#waitMs = FIRST_WAIT_MS;
    const jitter = 0.8 + Math.random() * 0.4; // jitter, so that modules that crashed together do not restart together
    const wait = this.#waitMs * jitter;
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
    return wait;
  }

  /** Resets the crash count and the wait, for a new start or new code. */
  forgive(): void {
    this.#crashes = [];
    this.#waitMs = FIRST_WAIT_MS;
  }
}
