/** Runs pieces of work one after the other, in the order they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `work` does, which runs when all work before it has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // the caller of `take` has the failure
    return turn;
  }

  /** Resolves when all work that was asked for has ended. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
