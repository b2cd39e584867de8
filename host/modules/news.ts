import type { ConfigStore } from "../config/store.ts";
import type { DeviceRegistry } from "../devices/registry.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import type { SceneRegistry } from "../scenes/registry.ts";
import { ModuleLog } from "./logs.ts";
import type { BridgeTable } from "./module-bridge.ts";
import type { Module } from "./module.ts";
import type { ModuleView } from "./view.ts";

interface NewsParts {
  readonly config: Pick<ConfigStore, "current">;
  readonly bus: Bus;
  readonly log: HostLog;
  readonly bridges: BridgeTable;
  readonly devices: DeviceRegistry;
  readonly scenes: SceneRegistry;
}

/** Tells the house what has changed of its modules. */
export class ModuleNews {
  readonly #parts: NewsParts;
  readonly #widgetHashes = new Map<string, string>();
  readonly #lastReloads = new Map<string, ModuleView["lastReload"]>();

  constructor(parts: NewsParts) {
    this.#parts = parts;
  }

  /** The log of one module, whose records are told as they come. */
  logFor(id: string): ModuleLog {
    const { log, bus, config } = this.#parts;
    const level = () => config.current.modules[id]?.logLevel;
    return new ModuleLog(log.with({ module: id }, level), (entry) =>
      bus.announce("module.log", { module: id, entry }),
    );
  }

  changed({ id, view }: Module): void {
    const { bus, bridges, devices, scenes } = this.#parts;
    bus.announce("module.state", { module: view });
    this.#tellOfReload(view);
    if (bridges.find(id)) {
      devices.bridgeChanged(id);
      scenes.bridgeChanged(id);
    }
    if (view.widget) this.#widget(id, view.widget);
  }

  removed({ id }: Module): void {
    this.#widgetHashes.delete(id);
    this.#lastReloads.delete(id);
    this.#parts.bus.announce("module.removed", { id });
  }

  /** Failures are told by the module itself, with the place in the source. */
  #tellOfReload({ id, generation, lastReload }: ModuleView): void {
    if (lastReload === null || this.#lastReloads.get(id) === lastReload) return;
    this.#lastReloads.set(id, lastReload);
    const { result, durationMs, downtimeMs } = lastReload;
    if (result !== "reloaded") return;
    const fields = { module: id, generation, durationMs, downtimeMs };
    this.#parts.log.info("the module was reloaded", fields);
  }

  /** The first code of a widget is no update. */
  #widget(module: string, widget: { readonly hash: string; readonly url: string }): void {
    const before = this.#widgetHashes.get(module);
    this.#widgetHashes.set(module, widget.hash);
    if (before === undefined || before === widget.hash) return;
    this.#parts.bus.announce("widget.updated", { module, ...widget });
  }
}
