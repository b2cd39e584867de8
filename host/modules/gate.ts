import { MantelError } from "@mantel/plugin-sdk/errors";

/** How long a call waits for a handover to end. */
const WAIT_MS = 2_000;

/** Holds calls back while a module changes hands, in order and within bounds. */
export class Gate {
  readonly #id: string;
  readonly #limit: number;
  #waiting: (() => void)[] = [];
  #isOpen = true;

  constructor(id: string, limit: number) {
    this.#id = id;
    this.#limit = limit;
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

  /** Resolves when calls may go on. @throws MantelError `module_down` when too many wait, or for too long */
  async pass(): Promise<void> {
    if (this.#isOpen) return;
    if (this.#waiting.length >= this.#limit) {
      throw this.#refusal(`${this.#limit} calls wait for ${this.#id} already`);
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== release);
        reject(this.#refusal(`${this.#id} did not finish its reload within ${WAIT_MS} ms`));
      }, WAIT_MS);
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
