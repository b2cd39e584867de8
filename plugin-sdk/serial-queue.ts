/** Runs async functions one after another, in the order of the calls. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier work has settled, and settles like `work`. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // the caller of `take` handles the failure
    return turn;
  }

  /** Resolves when all work requested so far has settled. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
