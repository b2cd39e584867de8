import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleView } from "../api/module.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { ModuleEvents } from "./events.ts";
import { Module, type ModuleDependencies } from "./lifecycle/module.ts";
import { ignoreFailure } from "./lifecycle/reload-one-by-one.ts";
import {
  discover,
  type Discovery,
  type InvalidPlugin,
  type PackageFolder,
} from "./manifest/discover.ts";
import type { PluginPackage } from "./manifest/manifest.ts";
import type { BridgeTable } from "./module-bridge.ts";
import { InvalidPlugins } from "./state/invalid-plugins.ts";

export interface ModuleTableDependencies extends Omit<ModuleDependencies, "changed" | "log"> {
  readonly bus: Bus;
  readonly log: HostLog;
  readonly bridges: BridgeTable;
  /** Plugin folders; later ones win on the same id. */
  readonly roots: readonly string[];
  /** The installed packages now. */
  readonly packageFolders: () => readonly PackageFolder[];
  /** True for ids of plugins that ship with Mantel. */
  readonly isShippedId: (id: string) => boolean;
}

/** The events of the table that concern all modules. */
interface TableOwner {
  /** True for a folder that is being written. */
  readonly isSettling: (folder: string) => boolean;
  /** Called after each change of a module. */
  readonly onChange: () => void;
  /** Called after a reload because of a changed manifest, which may let other modules start or stop. */
  readonly onManifestReload: () => void;
}

/** The modules by id, and the folders that are not valid plugins, as they were found on disk. */
export class ModuleTable {
  readonly #parts: ModuleTableDependencies;
  readonly #owner: TableOwner;
  readonly #modules = new Map<string, Module>();
  readonly #invalidPlugins: InvalidPlugins;
  readonly #events: ModuleEvents;
  /** The last reload of each module because of a changed manifest or folder. */
  readonly #reloads = new Map<string, Promise<void>>();
  #revision = Date.now();
  #hasSearched = false;

  constructor(parts: ModuleTableDependencies, owner: TableOwner) {
    this.#parts = parts;
    this.#owner = owner;
    this.#events = new ModuleEvents(parts);
    this.#invalidPlugins = new InvalidPlugins(parts.log);
  }

  /** Grows with each change of the list; it starts from the clock, so that it also grows across restarts. */
  get revision(): number {
    return this.#revision;
  }

  all(): readonly Module[] {
    return [...this.#modules.values()];
  }

  /** The views of all modules and of the folders that are not valid plugins, by id. */
  views(): readonly ModuleView[] {
    const modules = this.all().map((module) => module.view);
    return [...modules, ...this.#invalidViews()].toSorted((a, b) => a.id.localeCompare(b.id));
  }

  find(id: string): Module | undefined {
    return this.#modules.get(id);
  }

  /** @throws MantelError `module_unknown`; `reload_failed` for a folder that is not a valid plugin */
  get(id: string): Module {
    const module = this.#modules.get(id);
    if (module) return module;
    const broken = this.#invalidViews().find((view) => view.id === id)?.error;
    if (broken) throw new MantelError("reload_failed", broken.message);
    throw new MantelError("module_unknown", `no module has the id ${id}`);
  }

  /** The reason why this folder is not a valid plugin now. */
  errorOf(folder: string): MantelError | undefined {
    return this.#invalidPlugins.errorOf(folder);
  }

  /** Adds new plugins, removes those that are gone, and reloads those whose manifest changed. Starts nothing. */
  async update(): Promise<Discovery> {
    const found = await this.#discover();
    await this.#parts.consents.grantPlugins([...found.plugins.values()]);
    await this.#removeGone(found);
    await this.#recordInvalid(found);
    for (const plugin of found.plugins.values()) await this.adopt(plugin);
    return found;
  }

  /** Shows at each module whose folder is not a valid plugin now why its code stays. */
  rejectChanges({ plugins, broken }: Discovery): void {
    for (const { folder, error } of broken) {
      const module = this.#in(folder); // a module that moved to another folder does not belong to the broken one
      if (module && !plugins.has(module.id)) void module.rejectChange(error);
    }
  }

  /** Resolves when the last reload of this module because of a changed manifest has ended. */
  async reloaded(id: string): Promise<void> {
    await this.#reloads.get(id);
    this.#reloads.delete(id);
  }

  /** Makes this plugin a module, or the plugin on disk of its module. */
  async adopt(plugin: PluginPackage): Promise<void> {
    const known = this.#modules.get(plugin.id);
    if (known && isDeepStrictEqual(known.plugin, plugin)) return known.setOnDisk(plugin);
    const waits = this.#parts.consents.neededBy(plugin).length > 0;
    if (known && (waits || known.canBecome(plugin))) return this.#change(known, plugin);
    if (known) await this.#remove(known);
    const last = waits ? await this.#parts.versionStore.version(plugin.id) : undefined;
    const module = new Module(last?.plugin ?? plugin, {
      ...this.#parts,
      changed: (which) => this.#changed(which),
      log: this.#events.logFor(plugin.id),
    });
    this.#modules.set(plugin.id, module);
    if (waits) module.setOnDisk(plugin);
    this.#parts.bridges.add(module);
    this.#claimPaths(module);
  }

  /** Finds all plugins. A folder that was a plugin until now is a broken one. */
  async #discover(): Promise<Discovery> {
    const { roots, config, packageFolders, isShippedId, versionStore } = this.#parts;
    const allowsLink = (name: string) => config.current.modules[name]?.links === true;
    const packages = packageFolders();
    const lastRun = () =>
      this.#hasSearched ? this.all().map(({ plugin }) => plugin) : versionStore.plugins();
    const found = this.#withoutIncomplete(
      await discover(roots, { allowsLink, isShippedId, packages, lastRun }),
    );
    const wasPlugin = async (folder: string) =>
      this.#in(folder) !== undefined || (await versionStore.pluginIn(folder)) !== undefined;
    const [former, others]: [InvalidPlugin[], InvalidPlugin[]] = [[], []];
    for (const each of found.others) ((await wasPlugin(each.folder)) ? former : others).push(each);
    const all = { ...found, broken: [...found.broken, ...former], others };
    if (!this.#hasSearched) await this.#forgetRemoved(all);
    this.#hasSearched = true;
    return all;
  }

  /** Leaves out new folders that are being written; they are found when that has ended. */
  #withoutIncomplete({ plugins, broken, others }: Discovery): Discovery {
    const isComplete = ({ folder }: { readonly folder: string }): boolean =>
      this.#in(folder) !== undefined || !this.#owner.isSettling(folder);
    const complete = [...plugins].filter(([id, each]) => this.#modules.has(id) || isComplete(each));
    return { plugins: new Map(complete), broken: broken.filter(isComplete), others };
  }

  /** Deletes the code of plugins that were removed while the host did not run. */
  async #forgetRemoved({ plugins, broken }: Discovery): Promise<void> {
    const folders = new Set(broken.map(({ folder }) => folder));
    await this.#parts.versionStore.forgetRemoved(
      (id, folder) => plugins.has(id) || folders.has(folder),
    );
  }

  /** Removes modules whose folder is gone. A module whose folder is only broken keeps running what it has. */
  async #removeGone({ plugins, broken }: Discovery): Promise<void> {
    const brokenFolders = new Set(broken.map(({ folder }) => folder));
    for (const module of this.#modules.values()) {
      if (plugins.has(module.id) || brokenFolders.has(module.plugin.folder)) continue;
      await this.#remove(module);
      await this.#forget(module);
    }
  }

  async #remove(module: Module): Promise<void> {
    await module.stop();
    this.#modules.delete(module.id);
    this.#parts.bridges.remove(module.id);
    this.#parts.apiPaths.release(module.id);
    this.#revision++;
    this.#events.removed(module);
  }

  /** Deletes the code of a removed plugin, so that a new folder of that name never runs it. */
  async #forget({ id }: Module): Promise<void> {
    await this.#parts.versionStore.forget(id);
    await this.#parts.compiler.pruneVendors(await this.#parts.versionStore.vendors());
  }

  /** Records broken folders. Their last good version continues, or starts again. */
  async #recordInvalid({ plugins, broken }: Discovery): Promise<void> {
    this.#invalidPlugins.replace(broken);
    for (const { folder } of broken.filter((each) => !this.#in(each.folder))) {
      const good = await this.#parts.versionStore.pluginIn(folder);
      if (!good || plugins.has(good.id)) continue;
      await this.#parts.consents.grantPlugins([good]);
      await this.adopt(good);
    }
    this.#revision++;
  }

  #invalidViews(): readonly ModuleView[] {
    return this.#invalidPlugins.views(
      ({ name, folder }) => !!this.#in(folder) || this.#modules.has(name),
    );
  }

  /** The module that runs from this folder. */
  #in(folder: string): Module | undefined {
    return [...this.#modules.values()].find(({ plugin }) => plugin.folder === folder);
  }

  /** Reloads a module with its changed manifest. */
  #change(module: Module, plugin: PluginPackage): void {
    module.setOnDisk(plugin);
    if (module.view.state === "disabled") return;
    const change = ignoreFailure(module.reload("file"));
    this.#reloads.set(module.id, change);
    void change.then(this.#owner.onManifestReload);
  }

  /** Claims the paths of the running manifest, once it has consent. */
  #claimPaths({ id, plugin, log }: Module): void {
    const { paths } = plugin.manifest;
    const isAllowed = paths === undefined || this.#parts.consents.neededBy(plugin).length === 0;
    for (const taken of this.#parts.apiPaths.claim(id, isAllowed ? paths : {})) {
      const sentence = "a path of the API belongs to another plugin; disable one of the two";
      const fields = { path: taken.path, plugin: taken.plugin };
      log.record({ level: "warn", sentence, fields });
    }
  }

  #changed(module: Module): void {
    this.#claimPaths(module);
    this.#revision++;
    this.#events.changed(module);
    this.#owner.onChange();
  }
}
