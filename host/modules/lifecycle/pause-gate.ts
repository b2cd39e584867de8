import { MantelError } from "@mantel/plugin-sdk/errors";

/**
 * The longest time a call waits for a handover or a restart. What the module's process and the host wait for a CPU
 * meanwhile does not count, up to `LONGEST_BUSY_PAUSE_MS` in all.
 */
export const LONGEST_PAUSE_MS = 2_000;
const LONGEST_BUSY_PAUSE_MS = 6_000;
/** A shorter extension is not worth a timer. */
const SHORTEST_EXTENSION_MS = 20;

/** Holds calls back during a handover or a restart after a crash, in order and within limits. */
export class PauseGate {
  readonly #id: string;
  readonly #limit: () => number;
  readonly #waitedForCpuMs: () => number;
  readonly #onWait: () => void;
  #waiting: (() => void)[] = [];
  #isOpen = true;
  #closedAt = 0;
  #pausedMs = 0;

  /**
   * @param limit the most calls that may wait
   * @param waitedForCpuMs the time for which the module's process and the host have waited for a CPU since they began
   * @param onWait called when a call begins to wait
   */
  constructor(
    id: string,
    limit: () => number,
    waitedForCpuMs: () => number,
    onWait: () => void = () => undefined,
  ) {
    this.#id = id;
    this.#limit = limit;
    this.#waitedForCpuMs = waitedForCpuMs;
    this.#onWait = onWait;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The time for which it was closed, of all pauses that have ended. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  close(): void {
    if (this.#isOpen) this.#closedAt = performance.now();
    this.#isOpen = false;
  }

  open(): void {
    if (!this.#isOpen) this.#pausedMs += performance.now() - this.#closedAt;
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const release of waiting) release();
  }

  /**
   * Resolves when calls may continue, after at most `longestMs`.
   * @throws MantelError `module_down` if too many calls wait, or one waits too long
   */
  async pass(longestMs = Infinity): Promise<void> {
    if (this.#isOpen) return;
    if (this.#waiting.length >= this.#limit()) {
      throw this.#refusal(`${this.#waiting.length} calls already wait for ${this.#id}`);
    }
    const before = this.#waitedForCpuMs();
    const allowedMs = () =>
      Math.min(
        longestMs,
        LONGEST_PAUSE_MS + Math.max(0, this.#waitedForCpuMs() - before),
        LONGEST_BUSY_PAUSE_MS,
      );
    await new Promise<void>((resolve, reject) => {
      let waitMs = allowedMs();
      const end = () => {
        const leftMs = allowedMs() - waitMs;
        if (leftMs >= SHORTEST_EXTENSION_MS) {
          waitMs += leftMs;
          timer = setTimeout(end, leftMs);
          return;
        }
        this.#waiting = this.#waiting.filter((each) => each !== release);
        reject(this.#refusal(`${this.#id} did not come back within ${Math.round(waitMs)} ms`));
      };
      let timer = setTimeout(end, waitMs);
      const release = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(release);
      this.#onWait();
    });
  }

  #refusal(sentence: string): MantelError {
    return new MantelError("module_down", sentence, { retryAfterMs: 1_000 });
  }
}
