import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { PluginPackage } from "./code/manifest.ts";
import { type HostParts, isPublication } from "./host-api.ts";
import type { ServerSide } from "./reload/server-side.ts";

export interface OfferingModule extends Pick<ServerSide, "call"> {
  readonly id: string;
}

/** What a module offers the house under its manifest: services that it answers, values that it publishes. */
export class Offers {
  readonly #module: OfferingModule;
  readonly #parts: HostParts;

  constructor(module: OfferingModule, parts: HostParts) {
    this.#module = module;
    this.#parts = parts;
  }

  /** Whether no other module holds a name that this one is to provide. */
  canClaim({ id, manifest: { provides = [] } }: PluginPackage): boolean {
    return this.#parts.services.findTaken({ id, provides }) === undefined;
  }

  /** @throws NameTaken when another module holds a name; nothing is claimed then */
  claim({ manifest: { provides = [] } }: PluginPackage): void {
    const module = this.#module;
    this.#parts.services.claim({
      ...{ id: module.id, provides },
      callService: (name, input, deadlineMs) =>
        module.call("callService", { name, input }, deadlineMs),
    });
  }

  /** Does `work` under the names of `next`; when it fails, those of `now` hold again. */
  async during<T>(next: PluginPackage, now: PluginPackage, work: () => Promise<T> | T): Promise<T> {
    this.claim(next);
    try {
      return await work();
    } catch (error) {
      this.claim(now);
      throw error;
    }
  }

  /** Claims what `now` offers and ends what only `before` did. */
  replace(before: PluginPackage, now: PluginPackage): void {
    this.claim(now);
    this.#unpublish(before.manifest, now.manifest.provides);
  }

  release(): void {
    this.#parts.services.release(this.#module.id);
  }

  /** Takes all of it out of the house, devices and scenes included. */
  retract({ manifest }: PluginPackage): void {
    const { id } = this.#module;
    this.release();
    this.#parts.devices.removeBridge(id);
    this.#parts.scenes.removeBridge(id);
    this.#unpublish(manifest);
  }

  #unpublish({ provides = [] }: Manifest, kept: Manifest["provides"] = []): void {
    for (const name of provides) {
      if (isPublication(name) && !kept.includes(name)) this.#parts.publications[name].gone();
    }
  }
}
