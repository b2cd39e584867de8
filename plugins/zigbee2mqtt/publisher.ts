import type { PluginContext } from "@mantel/plugin-sdk";
import type { DeviceStore } from "./device-store.ts";
import type { BridgeHealth } from "./health.ts";

interface Parts {
  readonly ctx: Pick<PluginContext<unknown, unknown>, "devices" | "scenes" | "log">;
  readonly health: BridgeHealth;
  readonly home: DeviceStore;
}

/** Publishes the whole set of devices and scenes, one time after the other. */
export class Publisher {
  readonly #parts: Parts;
  #published: ReadonlySet<string> = new Set();
  #isPublishing = false;
  #isStale = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** False for a device that the host does not know yet; its state comes with the set. */
  has(nativeId: string): boolean {
    return this.#published.has(nativeId);
  }

  /** Publishes the set, and once more if it is asked to while one is in progress, also if that one is refused. */
  async publish(): Promise<void> {
    this.#isStale = true;
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    while (this.#isStale) await this.#publishOnce(); // never throws: a newer set follows one that was refused
    this.#isPublishing = false;
  }

  async #publishOnce(): Promise<void> {
    const { health, ctx } = this.#parts;
    this.#isStale = false;
    try {
      await this.#publishSet();
      health.set("host", undefined);
    } catch (error) {
      health.set("host", "the host did not take the list of devices; the log says why");
      ctx.log.error("the devices could not be published", { error });
    }
  }

  async #publishSet(): Promise<void> {
    const { ctx, home } = this.#parts;
    const devices = home.describe();
    this.#published = new Set(devices.map(({ nativeId }) => nativeId));
    await ctx.devices.publish(devices);
    if (home.isListed) await ctx.scenes.publish(home.scenes.map(({ description }) => description));
  }
}
