import type { ChannelChange } from "@mantel/plugin-sdk/protocol";
import { type ChannelRegistry, type ChannelState, keyOf } from "./registry.ts";

interface Followed {
  /** True until the plugin has taken the last change. */
  isSending: boolean;
  /** The change after that one. */
  waiting: ChannelChange | undefined;
}

/**
 * Delivers changes of the channels that one process follows. One change of each is on its way at a time; a newer one
 * replaces the one that waits, so that a slow process costs no memory.
 */
export class ChannelFollower {
  readonly #registry: ChannelRegistry;
  readonly #deliver: (change: ChannelChange) => Promise<void>;
  readonly #followed = new Map<string, Followed>();
  readonly #stop: () => void;
  readonly #release: () => void;

  /** @param deliver resolves when the process has taken the change */
  constructor(registry: ChannelRegistry, deliver: (change: ChannelChange) => Promise<void>) {
    this.#registry = registry;
    this.#deliver = deliver;
    this.#stop = registry.on((channel) => this.#changed(keyOf(channel), channel));
    this.#release = registry.demand.follow([], (plugin) =>
      [...this.#followed.keys()].some((key) => key.startsWith(`${plugin}/`)),
    );
  }

  /** Follows `plugin/name` from now on, also if no plugin provides it yet. */
  follow(key: string): { isProvided: boolean } {
    if (!this.#followed.has(key)) {
      this.#followed.set(key, { isSending: false, waiting: undefined });
    }
    const [plugin = "", name = ""] = key.split("/");
    void this.#registry.demand.whenCurrent(plugin);
    const channel = this.#registry.find(plugin, name);
    if (channel?.current) this.#changed(key, channel);
    return { isProvided: channel !== undefined };
  }

  close(): void {
    this.#stop();
    this.#release();
    this.#followed.clear();
  }

  #changed(key: string, { current }: ChannelState): void {
    const followed = this.#followed.get(key);
    if (!followed) return;
    followed.waiting = { channel: key, ...(current && { json: current.json }) };
    if (!followed.isSending) void this.#send(followed);
  }

  async #send(followed: Followed): Promise<void> {
    followed.isSending = true;
    while (followed.waiting) {
      const change = followed.waiting;
      followed.waiting = undefined;
      await this.#deliver(change).catch(() => undefined); // the next change replaces it
    }
    followed.isSending = false;
  }
}
