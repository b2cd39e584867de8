import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { isPublication } from "@mantel/plugin-sdk/manifest-rights";
import type { Provider } from "../../services/registry.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { HostDependencies } from "./host-api.ts";

export type ProvidingModule = Pick<Provider, "id" | "definitions" | "callService">;

/** The services and published values that a module offers under its manifest. */
export class ProvidedServices {
  readonly #module: ProvidingModule;
  readonly #parts: HostDependencies;

  constructor(module: ProvidingModule, parts: HostDependencies) {
    this.#module = module;
    this.#parts = parts;
  }

  /** True if no other module holds a name that this plugin provides. */
  canClaim({ id, manifest: { provides = [], shares = [] } }: PluginPackage): boolean {
    return this.#parts.services.findTaken({ id, provides, shares }) === undefined;
  }

  /** @throws ServiceNameTaken if another module holds a name; nothing is claimed then */
  claim({ manifest: { provides = [], shares = [] } }: PluginPackage): void {
    this.#parts.services.claim({ ...this.#module, provides, shares });
  }

  /** Runs `work` with the names of `next` claimed; if it fails, claims those of `now` again. */
  async during<T>(next: PluginPackage, now: PluginPackage, work: () => Promise<T> | T): Promise<T> {
    this.claim(next);
    try {
      return await work();
    } catch (error) {
      this.claim(now);
      throw error;
    }
  }

  /** Claims the names of `now` and withdraws those that only `before` provided. */
  replace(before: PluginPackage, now: PluginPackage): void {
    this.claim(now);
    this.#unpublish(before.manifest, now.manifest.provides);
  }

  release(): void {
    this.#parts.services.release(this.#module.id);
  }

  /** Withdraws everything the module provides, devices and scenes included. */
  retract({ manifest }: PluginPackage): void {
    const { id } = this.#module;
    this.release();
    this.#parts.devices.removeBridge(id);
    this.#parts.scenes.removeBridge(id);
    this.#parts.channels.remove(id);
    this.#unpublish(manifest);
  }

  #unpublish({ provides = [] }: Manifest, keptNames: Manifest["provides"] = []): void {
    for (const name of provides) {
      if (isPublication(name) && !keptNames.includes(name)) {
        this.#parts.publications[name].gone(this.#module.id);
      }
    }
  }
}
