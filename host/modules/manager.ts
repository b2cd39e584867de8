import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Find } from "@mantel/plugin-sdk/manifest";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { LogEntry, ModuleView, ReloadResult } from "../api/module.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import type { ApiPaths } from "../routes/api-paths.ts";
import type { RoutedPlugin } from "../routes/routed-plugin.ts";
import { compileRuntime } from "./build/runtime.ts";
import { ModuleEvents } from "./events.ts";
import { HotReload } from "./hot-reload.ts";
import type { ModuleWork } from "./lifecycle/call-router.ts";
import { Module, type ModuleDependencies } from "./lifecycle/module.ts";
import { ignoreFailure, reloadOneByOne, renewRuntime } from "./lifecycle/reload-one-by-one.ts";
import type { TrialRuns } from "./lifecycle/trial-runs.ts";
import type { ReportedFault } from "./lifecycle/widget-faults.ts";
import {
  discover,
  type Discovery,
  type InvalidPlugin,
  type PackageFolder,
} from "./manifest/discover.ts";
import type { PluginPackage } from "./manifest/manifest.ts";
import type { BridgeTable } from "./module-bridge.ts";
import { isAffected, isTold, reconcile } from "./reconcile.ts";
import { InvalidPlugins } from "./state/invalid-plugins.ts";
import type { LogQuery } from "./state/logs.ts";

export interface ModuleManagerDependencies extends Omit<ModuleDependencies, "changed" | "log"> {
  readonly bus: Bus;
  readonly log: HostLog;
  readonly bridges: BridgeTable;
  readonly apiPaths: ApiPaths;
  /** Plugin folders; later ones win on the same id. */
  readonly roots: readonly string[];
  /** The installed packages now. */
  readonly packageFolders: () => readonly PackageFolder[];
  /** True for ids of plugins that ship with Mantel. */
  readonly isShippedId: (id: string) => boolean;
}

/** All modules by id: finds, starts and stops them, and watches their folders and config. */
export class ModuleManager {
  readonly #parts: ModuleManagerDependencies;
  readonly #modules = new Map<string, Module>();
  readonly #invalidPlugins: InvalidPlugins;
  readonly #events: ModuleEvents;
  #hotReload: HotReload | undefined;
  #revision = Date.now();
  #isStarted = false;
  #isClosed = false;
  readonly #turns = new SerialQueue();
  /** The last reload of each module because of a changed manifest or folder. */
  readonly #changes = new Map<string, Promise<void>>();
  #stopListening: (() => void) | undefined;

  constructor(parts: ModuleManagerDependencies) {
    this.#parts = parts;
    this.#events = new ModuleEvents(parts);
    this.#invalidPlugins = new InvalidPlugins(parts.log);
  }

  /** Grows with each change of the list; it starts from the clock, so that it also grows across restarts. */
  get revision(): number {
    return this.#revision;
  }

  list(): readonly ModuleView[] {
    const modules = [...this.#modules.values()].map((module) => module.view);
    return [...modules, ...this.#invalidViews()].toSorted((a, b) => a.id.localeCompare(b.id));
  }

  /** True while a fallback for bridges serves the devices. */
  get isSimulated(): boolean {
    return [...this.#modules.values()].some(
      ({ plugin, isWorking }) => isWorking && plugin.manifest.fallbackFor?.bridges === true,
    );
  }

  /** The plugins that can connect to services of the network and have no section in the config. */
  unconnected(): readonly { readonly id: string; readonly finds: readonly Find[] }[] {
    const { config } = this.#parts;
    return [...this.#modules.values()]
      .filter(({ id }) => !config.hasSection(id) && config.current.modules[id]?.enabled !== false)
      .map(({ id, plugin }) => ({ id, finds: plugin.manifest.finds ?? [] }));
  }

  /** The folders of the plugins by id. */
  folders(): ReadonlyMap<string, string> {
    return new Map([...this.#modules.values()].map(({ id, onDisk }) => [id, onDisk.folder]));
  }

  /** @throws MantelError `module_unknown` */
  get(id: string): ModuleView {
    return this.list().find((view) => view.id === id) ?? this.#module(id).view;
  }

  /** The plugins that contribute routes now. */
  routed(): readonly RoutedPlugin[] {
    return [...this.#modules.values()]
      .filter(({ routes }) => routes.length > 0)
      .map(({ id, routes, answerRoute, onDisk }) => ({
        id,
        routes,
        answer: (definition, { cause, ...call }) => {
          if (!cause || !onDisk.manifest.kinds.includes("automation")) {
            return answerRoute(definition, call);
          }
          this.#parts.home.feeds.causes.note(id, cause);
          return answerRoute(definition, { ...call, cause });
        },
      }));
  }

  /** @throws MantelError `module_unknown`, `reload_failed` */
  async reload(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#module(id);
    const reload = await module.reload("request");
    return { module: module.view, reload };
  }

  /**
   * Grants the plugin on disk all permissions it asks for now, and returns the added ones.
   * Starts nothing. `seen` is what the user was shown of them, if anything.
   *
   * @throws MantelError `module_unknown`; `consent_needed` if it asks for more than was seen;
   * `reload_failed` for a folder that is not a valid plugin now; `disk_full`
   */
  async allow(id: string, seen?: readonly string[]): Promise<string[]> {
    this.#module(id);
    await this.#inOrder(() => this.#rediscover()); // consent applies to what is on disk now
    const module = this.#module(id);
    const broken = this.#invalidPlugins.errorOf(module.onDisk.folder);
    if (broken) throw new MantelError("reload_failed", broken.message, broken.extras);
    return module.allow(seen);
  }

  /**
   * Reloads with the permissions granted now. @throws MantelError `module_unknown`, `reload_failed`,
   * `consent_needed`
   */
  async takeOver(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#module(id);
    if (module.canBecome(module.onDisk)) {
      const reload = await module.takeOver();
      return { module: module.view, reload };
    }
    const startedAt = performance.now();
    const next = await this.#replace(module);
    if (!next.isWorking) return { module: next.view, reload: await next.takeOver() };
    const durationMs = performance.now() - startedAt;
    const [from, to] = [module.view.generation, next.view.generation];
    const handed = { durationMs, downtimeMs: durationMs, drained: 0, stateHandedOver: false };
    return { module: next.view, reload: { result: "reloaded", from, to, ...handed } };
  }

  /**
   * Searches for plugins again. Resolves when the module with this id runs what is on disk, or could not start it,
   * or is removed.
   */
  async follow(id: string): Promise<void> {
    await this.#inOrder(() => this.#rediscover());
    await this.#changes.get(id);
    this.#changes.delete(id);
  }

  /** The plugins as they are on disk. */
  plugins(): readonly PluginPackage[] {
    return [...this.#modules.values()].map(({ onDisk }) => onDisk);
  }

  /** The running plugin; `undefined` for an unknown id. */
  running(id: string): PluginPackage | undefined {
    return this.#modules.get(id)?.plugin;
  }

  /** Records an error of a module's widget in a browser. @throws MantelError `module_unknown` */
  widgetFailed(id: string, fault: ReportedFault): void {
    this.#module(id).widgetFailed(fault);
  }

  /** @throws MantelError `module_unknown`, `no_earlier_code`, `reload_failed` */
  async rollBack(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#module(id);
    const reload = await module.rollBack();
    return { module: module.view, reload };
  }

  enable(id: string): Promise<ModuleView> {
    return this.#setEnabled(id, true);
  }

  disable(id: string): Promise<ModuleView> {
    return this.#setEnabled(id, false);
  }

  /** @throws MantelError `module_unknown`; `invalid` for a module without a server side */
  trialsOf(id: string): TrialRuns {
    const { trials } = this.#module(id);
    if (trials) return trials;
    throw new MantelError("invalid", `${id} is a widget; it has no setup or test`);
  }

  /** The last records of one module's log. @throws MantelError `module_unknown` */
  logs(id: string, query: LogQuery = {}): readonly LogEntry[] {
    return this.#module(id).log.find(query);
  }

  /** True once every module found at the start has started or failed. */
  settled(): boolean {
    return this.#isStarted;
  }

  counts(): { active: number; failed: number } {
    return countStates(this.list());
  }

  work(): readonly ModuleWork[] {
    return [...this.#modules.values()].map((module) => module.work);
  }

  /** Finds and starts all modules, and watches for changes from then on. */
  async start(): Promise<void> {
    const { roots, config, warmProcesses, log, compiler, versionStore } = this.#parts;
    this.#hotReload = new HotReload(roots, {
      log,
      modules: () => [...this.#modules.values()],
      isBroken: (folder) => this.#isClosed || this.#invalidPlugins.has(folder),
      rediscover: () => this.#inOrder(() => this.#rediscover()),
      renewRuntime: () =>
        void this.#inOrder(() => renewRuntime(this.#modules.values(), this.#parts)),
    });
    this.#stopListening = config.onChange((changed) => this.#configChanged(changed));
    await warmProcesses.renew(await compileRuntime(this.#parts.cacheFolder));
    await this.#inOrder(() => this.#rediscover());
    this.#isStarted = true;
    void this.#inOrder(async () => compiler.pruneVendors(await versionStore.vendors()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening?.();
    this.#hotReload?.close();
    await this.#turns.ended();
    await Promise.all([...this.#modules.values()].map((module) => module.shutDown()));
  }

  #module(id: string): Module {
    const module = this.#modules.get(id);
    if (module) return module;
    const broken = this.#invalidViews().find((view) => view.id === id)?.error;
    if (broken) throw new MantelError("reload_failed", broken.message);
    throw new MantelError("module_unknown", `no module has the id ${id}`);
  }

  async #setEnabled(id: string, enabled: boolean): Promise<ModuleView> {
    const module = this.#module(id);
    await this.#parts.config.patch({ modules: { [id]: { enabled } } }, { admin: true });
    await this.#inOrder(() => this.#arrange());
    return module.view;
  }

  async #rediscover(): Promise<void> {
    const found = await this.#discover();
    await this.#parts.consents.grantPlugins([...found.plugins.values()]);
    await this.#removeGone(found);
    await this.#recordInvalid(found);
    for (const plugin of found.plugins.values()) await this.#adopt(plugin);
    await this.#arrange();
    for (const { folder, error } of found.broken) {
      const module = this.#in(folder); // a module that moved to another folder does not belong to the broken one
      if (module && !found.plugins.has(module.id)) void module.rejectChange(error);
    }
  }

  /** Finds all plugins. A folder that was a plugin until now is a broken one. */
  async #discover(): Promise<Discovery> {
    const { roots, config, packageFolders, isShippedId, versionStore } = this.#parts;
    const allowsLink = (name: string) => config.current.modules[name]?.links === true;
    const packages = packageFolders();
    const found = this.#withoutIncomplete(
      await discover(roots, { allowsLink, isShippedId, packages }),
    );
    const wasPlugin = async (folder: string) =>
      this.#in(folder) !== undefined || (await versionStore.pluginIn(folder)) !== undefined;
    const [former, others]: [InvalidPlugin[], InvalidPlugin[]] = [[], []];
    for (const each of found.others) ((await wasPlugin(each.folder)) ? former : others).push(each);
    const all = { ...found, broken: [...found.broken, ...former], others };
    if (!this.#isStarted) await this.#forgetRemoved(all);
    return all;
  }

  /** Leaves out new folders that are being written; they are found when that has ended. */
  #withoutIncomplete({ plugins, broken, others }: Discovery): Discovery {
    const isComplete = ({ folder }: { readonly folder: string }): boolean =>
      this.#in(folder) !== undefined || this.#hotReload?.isSettling(folder) !== true;
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
      await this.#adopt(good);
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

  async #adopt(plugin: PluginPackage): Promise<void> {
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

  /** Replaces this module by one of another kind, which is allowed now. */
  async #replace(module: Module): Promise<Module> {
    await this.#inOrder(async () => {
      await this.#adopt(module.onDisk);
      await this.#arrange();
    });
    return this.#module(module.id);
  }

  /** Reloads a module with its changed manifest, and rearranges the modules afterwards. */
  #change(module: Module, plugin: PluginPackage): void {
    module.setOnDisk(plugin);
    if (module.view.state === "disabled") return;
    const change = ignoreFailure(module.reload("file"));
    this.#changes.set(module.id, change);
    void change.then(() => this.#inOrder(() => this.#arrange()));
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
    this.#hotReload?.followLinks();
  }

  #configChanged(changed: readonly string[]): void {
    const mayAllowLinks = changed.some((key) => key.startsWith("modules."));
    void this.#inOrder(() => (mayAllowLinks ? this.#rediscover() : this.#arrange()));
    for (const module of this.#modules.values()) module.followTrust();
    // A fallback module stops once the module it replaces has started, and starts again if that has failed.
    void this.#reloadFor(changed).then(() => this.#inOrder(() => this.#arrange()));
  }

  /** Reloads the modules whose own settings changed, and those that do not follow changed settings of the home. */
  async #reloadFor(changed: readonly string[]): Promise<void> {
    const all = [...this.#modules.values()];
    const { current } = this.#parts.config;
    const affected = all.filter((module) => isAffected(module, changed, current));
    const told = all.filter((module) => !affected.includes(module) && isTold(module, changed));
    const answers = await Promise.all(
      told.map(async (module) => ({ module, isFollowed: await module.followSettings() })),
    );
    const others = answers.filter(({ isFollowed }) => !isFollowed).map(({ module }) => module);
    await reloadOneByOne([...affected, ...others], "config", this.#parts);
  }

  async #arrange(): Promise<void> {
    if (this.#isClosed) return; // a reload ended after the manager was closed
    await reconcile([...this.#modules.values()], this.#parts.config.current);
  }

  /** Runs searches, starts and stops of modules one after the other. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    return this.#turns.take(work).catch((error: unknown) => {
      this.#parts.log.error("could not update the modules", { error });
    });
  }
}

/** The number of modules that work, and of those that should work and do not. */
function countStates(views: readonly ModuleView[]): { active: number; failed: number } {
  const count = (...states: ModuleState[]) =>
    views.filter(({ state }) => states.includes(state)).length;
  return {
    active: count("active", "degraded", "reloading"),
    failed: count("failed", "quarantined"),
  };
}
