/**
 * Keeps what a bridge tells in the order it came, although some of it waits for the disk. Different
 * bridges do not wait for each other.
 */
export class BridgeOrder {
  /** The last work of each bridge that has not ended. They never reject. */
  readonly #last = new Map<string, Promise<void>>();

  /** Does `work` after what came before it, and settles as it does. */
  take(bridgeId: string, work: () => Promise<void>): Promise<void> {
    const done = (this.#last.get(bridgeId) ?? Promise.resolve()).then(work);
    const ended = done.catch(() => undefined); // the caller of `take` has the failure
    this.#last.set(bridgeId, ended);
    void ended.then(() => {
      if (this.#last.get(bridgeId) === ended) this.#last.delete(bridgeId);
    });
    return done;
  }

  /** Does `work` after what came before it, at once when nothing waits, and settles as it does. */
  async follow(bridgeId: string, work: () => void): Promise<void> {
    const last = this.#last.get(bridgeId);
    if (last) await last;
    work();
  }
}
