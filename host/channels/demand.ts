/** Resolves when a plugin can publish new values; `undefined` if it can already. */
type Ready = (plugin: string) => Promise<void> | undefined;

/**
 * The readers and followers of channels. A plugin that rests has a process again as soon as somebody follows or reads
 * one of its channels, and does not rest while somebody follows one.
 */
export class ChannelDemand {
  readonly #followers = new Set<(plugin: string) => boolean>();
  #ready: Ready = () => undefined;

  /** Sets the function that is called for a plugin whose channels somebody follows or reads. */
  setReady(ready: Ready): void {
    this.#ready = ready;
  }

  /** True if somebody follows a channel of this plugin. */
  isFollowed(plugin: string): boolean {
    return [...this.#followers].some((follows) => follows(plugin));
  }

  /**
   * Follows channels until the returned function is called.
   *
   * @param plugins the plugins that have channels now
   * @param follows true for the plugins whose channels are followed
   */
  follow(plugins: readonly string[], follows: (plugin: string) => boolean): () => void {
    this.#followers.add(follows);
    for (const plugin of plugins.filter(follows)) void this.whenCurrent(plugin);
    return () => this.#followers.delete(follows);
  }

  /** Resolves when the last values of this plugin are current, or it did not start; `undefined` if they are already. */
  whenCurrent(plugin: string): Promise<void> | undefined {
    return this.#ready(plugin)?.catch(() => undefined); // its state shows why it does not start
  }
}
