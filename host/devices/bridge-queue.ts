/**
 * Processes the messages of a bridge in the order they arrived, although some wait for the disk. Different
 * bridges do not wait for each other.
 */
export class BridgeQueue {
  /** The last unfinished work of each bridge. These promises never reject. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier work, and settles with it. */
  take(bridgeId: string, work: () => Promise<void>): Promise<void> {
    const done = (this.#last.get(bridgeId) ?? Promise.resolve()).then(work);
    const ended = done.catch(() => undefined); // the caller of `take` gets the failure
    this.#last.set(bridgeId, ended);
    void ended.then(() => {
      if (this.#last.get(bridgeId) === ended) this.#last.delete(bridgeId);
    });
    return done;
  }

  /** Runs `work` after all earlier work, immediately without any, and settles with it. */
  async follow(bridgeId: string, work: () => void): Promise<void> {
    const last = this.#last.get(bridgeId);
    if (last) await last;
    work();
  }
}
