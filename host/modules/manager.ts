import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { normalServiceKey } from "@mantel/plugin-sdk/service";
import type { LogEntry, ModuleView, ReloadResult } from "../api/module.ts";
import type { Unconnected } from "../discovery/connectable.ts";
import type { RoutedPlugin } from "../routes/routed-plugin.ts";
import { compileRuntime } from "./build/runtime.ts";
import { HotReload } from "./hot-reload.ts";
import type { ModuleWork } from "./lifecycle/call-router.ts";
import type { Module } from "./lifecycle/module.ts";
import { reloadOneByOne, renewRuntime } from "./lifecycle/reload-one-by-one.ts";
import type { TrialRuns } from "./lifecycle/trial-runs.ts";
import type { ReportedFault } from "./lifecycle/widget-faults.ts";
import type { PluginPackage } from "./manifest/manifest.ts";
import { ModuleTable, type ModuleTableDependencies } from "./module-table.ts";
import { isAffected, isTold, reconcile } from "./reconcile.ts";
import type { LogQuery } from "./state/logs.ts";

/** All modules: finds, starts and stops them, and watches their folders and config. */
export class ModuleManager {
  readonly #parts: ModuleTableDependencies;
  readonly #table: ModuleTable;
  #hotReload: HotReload | undefined;
  #isStarted = false;
  #isClosed = false;
  readonly #queue = new SerialQueue();
  #stopListening: (() => void) | undefined;

  constructor(parts: ModuleTableDependencies) {
    this.#parts = parts;
    this.#table = new ModuleTable(parts, {
      isSettling: (folder) => this.#hotReload?.isSettling(folder) === true,
      onChange: () => this.#hotReload?.followLinks(),
      onManifestReload: () => void this.#inOrder(() => this.#reconcile()),
    });
    parts.channels.demand.setReady((id) => this.#table.find(id)?.keepAwake());
  }

  /** Grows with each change of the list. */
  get revision(): number {
    return this.#table.revision;
  }

  list(): readonly ModuleView[] {
    return this.#table.views();
  }

  /** True while a fallback for bridges serves the devices. */
  get isSimulated(): boolean {
    return this.#table
      .all()
      .some(({ plugin, isWorking }) => isWorking && plugin.manifest.fallbackFor?.bridges === true);
  }

  /** The plugins that can connect to services of the network and have no section in the config. */
  unconnected(): readonly Unconnected[] {
    const { config } = this.#parts;
    return this.#table
      .all()
      .filter(({ id }) => !config.hasSection(id) && config.current.modules[id]?.enabled !== false)
      .map(({ id, plugin: { manifest } }) => ({
        id,
        finds: manifest.finds ?? [],
        translations: manifest.translations,
      }));
  }

  /** The translations in the manifest of a module, by language and English text. */
  translations(id: string): Manifest["translations"] {
    return this.#table.all().find((module) => module.id === id)?.plugin.manifest.translations;
  }

  /**
   * Adds a file to the sources of the home that a plugin runs, such as an automation.
   * @throws MantelError `module_unknown`; `not_found` if the plugin has none; as `SourceFolder.add`
   */
  async addSource(id: string, name: string, text: string): Promise<void> {
    const { sources } = this.#table.get(id).plugin.manifest;
    if (sources === undefined) throw new MantelError("not_found", `${id} runs no sources`);
    await this.#parts.sourceFolders.folder(sources).add(name, text);
  }

  /** The folders of the plugins by id. */
  folders(): ReadonlyMap<string, string> {
    return new Map(this.#table.all().map(({ id, onDisk }) => [id, onDisk.folder]));
  }

  /** @throws MantelError `module_unknown` */
  get(id: string): ModuleView {
    return this.list().find((view) => view.id === id) ?? this.#table.get(id).view;
  }

  /** The plugins that contribute routes now. */
  routed(): readonly RoutedPlugin[] {
    return this.#table
      .all()
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

  /** True for a module that does not run, such as one that is disabled. */
  isStopped(id: string): boolean {
    return this.#table.find(id)?.isWorking === false;
  }

  /** The id of a module that provides a service but does not run. */
  findStopped(service: string): string | undefined {
    const key = normalServiceKey(service);
    return this.#table.all().find(({ isWorking, onDisk: { manifest } }) => {
      return !isWorking && manifest.provides?.some((name) => normalServiceKey(name) === key);
    })?.id;
  }

  /** @throws MantelError `module_unknown`, `reload_failed` */
  async reload(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#table.get(id);
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
    this.#table.get(id);
    await this.#inOrder(() => this.#rediscover()); // consent applies to what is on disk now
    const module = this.#table.get(id);
    const broken = this.#table.errorOf(module.onDisk.folder);
    if (broken) throw new MantelError("reload_failed", broken.message, broken.extras);
    return module.allow(seen);
  }

  /**
   * Reloads with the permissions granted now. @throws MantelError `module_unknown`, `reload_failed`,
   * `consent_needed`
   */
  async takeOver(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#table.get(id);
    if (module.canBecome(module.onDisk)) {
      const reload = await module.takeOver();
      return { module: module.view, reload };
    }
    const startedAt = performance.now();
    const next = await this.#replace(module);
    if (!next.isUpToDate) {
      const reload = await next.takeOver();
      return { module: next.view, reload };
    }
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
    await this.#table.reloaded(id);
  }

  /** The plugins as they are on disk. */
  plugins(): readonly PluginPackage[] {
    return this.#table.all().map(({ onDisk }) => onDisk);
  }

  /** The running plugin; `undefined` for an unknown id. */
  running(id: string): PluginPackage | undefined {
    return this.#table.find(id)?.plugin;
  }

  /** Records an error of a module's widget in a browser. @throws MantelError `module_unknown` */
  widgetFailed(id: string, fault: ReportedFault): void {
    this.#table.get(id).widgetFailed(fault);
  }

  /** @throws MantelError `module_unknown`, `no_earlier_code`, `reload_failed` */
  async rollBack(id: string): Promise<{ module: ModuleView; reload: ReloadResult }> {
    const module = this.#table.get(id);
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
    const { trials } = this.#table.get(id);
    if (trials) return trials;
    throw new MantelError("invalid", `${id} is a widget; it has no setup or test`);
  }

  /** The last records of one module's log. @throws MantelError `module_unknown` */
  logs(id: string, query: LogQuery = {}): readonly LogEntry[] {
    return this.#table.get(id).log.find(query);
  }

  /** True once every module found at the start has started or failed. */
  settled(): boolean {
    return this.#isStarted;
  }

  counts(): { active: number; failed: number } {
    return countStates(this.list());
  }

  work(): readonly ModuleWork[] {
    return this.#table.all().map((module) => module.work);
  }

  /** Finds and starts all modules, and watches for changes from then on. */
  async start(): Promise<void> {
    const { roots, config, warmProcesses, log, compiler, versionStore } = this.#parts;
    this.#hotReload = new HotReload(roots, {
      log,
      modules: () => this.#table.all(),
      isBroken: (folder) => this.#isClosed || this.#table.errorOf(folder) !== undefined,
      rediscover: () => this.#inOrder(() => this.#rediscover()),
      renewRuntime: () => void this.#inOrder(() => renewRuntime(this.#table.all(), this.#parts)),
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
    await this.#queue.ended();
    await Promise.all(this.#table.all().map((module) => module.shutDown()));
  }

  async #setEnabled(id: string, enabled: boolean): Promise<ModuleView> {
    const module = this.#table.get(id);
    await this.#parts.config.patch({ modules: { [id]: { enabled } } }, { admin: true });
    await this.#inOrder(() => this.#reconcile());
    return module.view;
  }

  async #rediscover(): Promise<void> {
    const found = await this.#table.update();
    await this.#reconcile();
    this.#table.rejectChanges(found);
  }

  /** Replaces this module by one of another kind, which is allowed now. */
  async #replace(module: Module): Promise<Module> {
    await this.#inOrder(async () => {
      await this.#table.adopt(module.onDisk);
      await this.#reconcile();
    });
    return this.#table.get(module.id);
  }

  #configChanged(changed: readonly string[]): void {
    const mayAllowLinks = changed.some((key) => key.startsWith("modules."));
    void this.#inOrder(() => (mayAllowLinks ? this.#rediscover() : this.#reconcile()));
    for (const module of this.#table.all()) module.followTrust();
    // A fallback module stops once the module it replaces has started, and starts again if that has failed.
    void this.#reloadFor(changed).then(() => this.#inOrder(() => this.#reconcile()));
  }

  /** Reloads the modules whose own settings changed, and those that do not follow changed settings of the home. */
  async #reloadFor(changed: readonly string[]): Promise<void> {
    const all = this.#table.all();
    const { current } = this.#parts.config;
    const affected = all.filter((module) => isAffected(module, changed, current));
    const told = all.filter((module) => !affected.includes(module) && isTold(module, changed));
    const answers = await Promise.all(
      told.map(async (module) => ({ module, isFollowed: await module.followSettings() })),
    );
    const others = answers.filter(({ isFollowed }) => !isFollowed).map(({ module }) => module);
    await reloadOneByOne([...affected, ...others], "config", this.#parts);
  }

  async #reconcile(): Promise<void> {
    if (this.#isClosed) return; // a reload ended after the manager was closed
    await reconcile(this.#table.all(), this.#parts.config.current);
  }

  /** Runs searches, starts and stops of modules one after the other. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    return this.#queue.take(work).catch((error: unknown) => {
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
