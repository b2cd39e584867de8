import type { ModuleView, WidgetView } from "../api/module.ts";
import type { ConfigStore } from "../config/store.ts";
import type { DeviceRegistry } from "../devices/registry.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import type { SceneRegistry } from "../scenes/registry.ts";
import type { Module } from "./lifecycle/module.ts";
import type { BridgeTable } from "./module-bridge.ts";
import { ModuleLog } from "./state/logs.ts";

interface ModuleEventsDependencies {
  readonly config: ConfigStore;
  readonly bus: Bus;
  readonly log: HostLog;
  readonly bridges: BridgeTable;
  readonly devices: DeviceRegistry;
  readonly scenes: SceneRegistry;
}

/** Publishes the changes of modules as events. */
export class ModuleEvents {
  readonly #parts: ModuleEventsDependencies;
  readonly #widgetHashes = new Map<string, string>();
  readonly #lastReloads = new Map<string, ModuleView["lastReload"]>();

  constructor(parts: ModuleEventsDependencies) {
    this.#parts = parts;
  }

  /** The log of one module; its records are also published as events. */
  logFor(id: string): ModuleLog {
    const { log, bus, config } = this.#parts;
    const level = () => config.current.modules[id]?.logLevel;
    return new ModuleLog(log.with({ module: id }, level), (entry) =>
      bus.emit("module.log", { module: id, entry }),
    );
  }

  changed({ id, view }: Module): void {
    const { bus, bridges, devices, scenes } = this.#parts;
    bus.emit("module.state", { module: view });
    this.#announceReload(view);
    if (bridges.find(id)) {
      devices.bridgeChanged(id);
      scenes.bridgeChanged(id);
    }
    if (view.widget) this.#widget(id, view.widget);
  }

  removed({ id }: Module): void {
    this.#widgetHashes.delete(id);
    this.#lastReloads.delete(id);
    this.#parts.bus.emit("module.removed", { id });
  }

  /** Logs a successful reload. The module itself logs failures, with the location in the source. */
  #announceReload({ id, generation, lastReload }: ModuleView): void {
    if (lastReload === null || this.#lastReloads.get(id) === lastReload) return;
    this.#lastReloads.set(id, lastReload);
    const { result, durationMs, downtimeMs } = lastReload;
    if (result !== "reloaded") return;
    const fields = { module: id, generation, durationMs, downtimeMs };
    this.#parts.log.info("the module was reloaded", fields);
  }

  /** Publishes a widget update. The first code of a widget is not an update. */
  #widget(module: string, widget: WidgetView): void {
    const before = this.#widgetHashes.get(module);
    this.#widgetHashes.set(module, widget.hash);
    if (before === undefined || before === widget.hash) return;
    this.#parts.bus.emit("widget.updated", { module, ...widget });
  }
}
