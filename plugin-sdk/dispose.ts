type Release = () => void | Promise<void>;

/** A list of open resources, closed in reverse order. */
export class DisposeScope {
  #releases: Release[] = [];

  /** Registers a function that closes a resource. Call it on the line that opens the resource. */
  readonly onDispose = (release: Release): void => {
    this.#releases.push(release);
  };

  /**
   * Closes everything, last opened first. When a release throws, the others still run. Returns the errors.
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
