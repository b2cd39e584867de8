import { MantelError } from "@mantel/plugin-sdk/errors";

/** How long a call waits for its module to change hands or to come back. */
export const WAIT_MS = 2_000;

/** Holds calls back while a module changes hands or comes back from a crash, in order and within bounds. */
export class Gate {
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
   * Resolves when calls may go on, after at most `longestMs`.
   * @throws MantelError `module_down` when too many wait, or for too long
   */
  async pass(longestMs: number = WAIT_MS): Promise<void> {
    if (this.#isOpen) return;
    if (this.#waiting.length >= this.#limit()) {
      throw this.#refusal(`${this.#waiting.length} calls wait for ${this.#id} already`);
    }
    const waitMs = Math.min(longestMs, WAIT_MS);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== release);
        reject(this.#refusal(`${this.#id} was not there again within ${Math.round(waitMs)} ms`));
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
