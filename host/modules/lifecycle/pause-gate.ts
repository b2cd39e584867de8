import { MantelError } from "@mantel/plugin-sdk/errors";

/** The longest time a call waits for a handover or a restart. */
export const LONGEST_PAUSE_MS = 2_000;

/** Holds calls back during a handover or a restart after a crash, in order and within limits. */
export class PauseGate {
  readonly #id: string;
  readonly #limit: () => number;
  #waiting: (() => void)[] = [];
  #isOpen = true;

  constructor(id: string, limit: () => number) {
    this.#id = id;
    this.#limit = limit;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const release of waiting) release();
  }

  /**
   * Resolves when calls may continue, after at most `longestMs`.
   * @throws MantelError `module_down` if too many calls wait, or one waits too long
   */
  async pass(longestMs: number = LONGEST_PAUSE_MS): Promise<void> {
    if (this.#isOpen) return;
    if (this.#waiting.length >= this.#limit()) {
      throw this.#refusal(`${this.#waiting.length} calls already wait for ${this.#id}`);
    }
    const waitMs = Math.min(longestMs, LONGEST_PAUSE_MS);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== release);
        reject(this.#refusal(`${this.#id} did not come back within ${Math.round(waitMs)} ms`));
      }, waitMs);
      const release = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(release);
    });
  }

  #refusal(sentence: string): MantelError {
    return new MantelError("module_down", sentence, { retryAfterMs: 1_000 });
  }
}
