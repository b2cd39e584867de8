type Release = () => void | Promise<void>;

/** Things that were opened and must be closed, closed in reverse order. */
export class DisposeScope {
  #releases: Release[] = [];

  /** Registers what closes the thing just opened. Call it on the line that opens. */
  readonly onDispose = (release: Release): void => {
    this.#releases.push(release);
  };

  /**
   * Closes everything, last opened first. A release that throws does not keep the others from
   * running; the faults are returned.
   */
  async dispose(): Promise<unknown[]> {
    const faults: unknown[] = [];
    for (let release = this.#releases.pop(); release; release = this.#releases.pop()) {
      try {
        await release();
      } catch (error) {
        faults.push(error);
      }
    }
    return faults;
  }
}
