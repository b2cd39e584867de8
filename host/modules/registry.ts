import { isDeepStrictEqual } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Turns } from "@mantel/plugin-sdk/turns";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { arrange, isConcerned } from "./arrange.ts";
import { BrokenFolders } from "./code/broken.ts";
import { discover, type Discovery } from "./code/discover.ts";
import type { PluginPackage } from "./code/manifest.ts";
import { compileRuntime } from "./code/runtime.ts";
import { Following } from "./following.ts";
import { quietly, reloadInTurn } from "./in-turn.ts";
import type { LogEntry, LogQuery } from "./logs.ts";
import type { BridgeTable } from "./module-bridge.ts";
import { Module, type ModuleParts } from "./module.ts";
import { ModuleNews } from "./news.ts";
import type { ModuleWork } from "./reload/calls.ts";
import { renewRuntime } from "./renew-runtime.ts";
import type { Trials } from "./trials.ts";
import { countStates, type ModuleView, type ReloadReceipt } from "./view.ts";

export interface RegistryParts extends Omit<ModuleParts, "changed" | "log"> {
  readonly bus: Bus;
  readonly log: HostLog;
  readonly bridges: BridgeTable;
  /** Plugin folders; later ones win on the same id. */
  readonly roots: readonly string[];
}

/** All modules by id: finds them, starts and stops them, and follows their folders and config. */
export class ModuleRegistry {
  readonly #parts: RegistryParts;
  readonly #modules = new Map<string, Module>();
  readonly #broken: BrokenFolders;
  readonly #news: ModuleNews;
  #following: Following | undefined;
  #revision = Date.now();
  #isStarted = false;
  #isClosed = false;
  readonly #turns = new Turns();
  #stopListening: (() => void) | undefined;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
    this.#news = new ModuleNews(parts);
    this.#broken = new BrokenFolders(parts.log);
  }

  /** Grows with each change of the list; it starts from the clock, to grow over restarts too. */
  get revision(): number {
    return this.#revision;
  }

  list(): readonly ModuleView[] {
    const modules = [...this.#modules.values()].map((module) => module.view);
    return [...modules, ...this.#brokenViews()].toSorted((a, b) => a.id.localeCompare(b.id));
  }

  /** @throws MantelError `module_unknown` */
  get(id: string): ModuleView {
    return this.list().find((view) => view.id === id) ?? this.#module(id).view;
  }

  /** @throws MantelError `module_unknown`, `reload_failed` */
  async reload(id: string): Promise<{ module: ModuleView; reload: ReloadReceipt }> {
    const module = this.#module(id);
    const reload = await module.reload("request");
    return { module: module.view, reload };
  }

  /** @throws MantelError `module_unknown`, `no_earlier_code`, `reload_failed` */
  async rollBack(id: string): Promise<{ module: ModuleView; reload: ReloadReceipt }> {
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
  trialsOf(id: string): Trials {
    const { trials } = this.#module(id);
    if (trials) return trials;
    throw new MantelError("invalid", `${id} is a widget, and has nothing to try out`);
  }

  /** The last records of one module's log. @throws MantelError `module_unknown` */
  logs(id: string, query: LogQuery = {}): readonly LogEntry[] {
    return this.#module(id).log.find(query);
  }

  /** True once every module found at the start has come to rest. */
  settled(): boolean {
    return this.#isStarted;
  }

  counts(): { active: number; failed: number } {
    return countStates(this.list());
  }

  work(): readonly ModuleWork[] {
    return [...this.#modules.values()].map((module) => module.work);
  }

  /** Finds and starts everything, and follows changes from then on. */
  async start(): Promise<void> {
    const { roots, config, spare, log, compiler, lastGoods } = this.#parts;
    this.#following = new Following(roots, {
      log,
      modules: () => [...this.#modules.values()],
      isBroken: (folder) => this.#isClosed || this.#broken.has(folder),
      rediscover: () => this.#inOrder(() => this.#rediscover()),
      renewRuntime: () =>
        void this.#inOrder(() => renewRuntime(this.#modules.values(), this.#parts)),
    });
    this.#stopListening = config.onChange((changed) => this.#configChanged(changed));
    await spare.renew(await compileRuntime(this.#parts.cacheFolder));
    await this.#inOrder(() => this.#rediscover());
    this.#isStarted = true;
    void this.#inOrder(async () => compiler.pruneVendors(await lastGoods.vendors()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening?.();
    this.#following?.close();
    await this.#turns.ended();
    await Promise.all([...this.#modules.values()].map((module) => module.shutDown()));
  }

  #module(id: string): Module {
    const module = this.#modules.get(id);
    if (module) return module;
    const broken = this.#brokenViews().find((view) => view.id === id)?.error;
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
    const { roots, config } = this.#parts;
    const found = await discover(roots, (name) => config.current.modules[name]?.links === true);
    await this.#removeGone(found);
    await this.#noteBroken(found);
    for (const plugin of found.plugins.values()) await this.#adopt(plugin);
    await this.#arrange();
    for (const { folder, error } of found.broken) {
      const module = this.#in(folder); // one that moves to another folder is not the broken one's
      if (module && !found.plugins.has(module.id)) void module.rejectChange(error);
    }
  }

  /** A module whose folder is still there, only broken, goes on with what it has. */
  async #removeGone({ plugins, broken }: Discovery): Promise<void> {
    const brokenFolders = new Set(broken.map(({ folder }) => folder));
    for (const module of this.#modules.values()) {
      if (plugins.has(module.id) || brokenFolders.has(module.plugin.folder)) continue;
      await this.#remove(module);
    }
  }

  async #remove(module: Module): Promise<void> {
    await module.stop();
    this.#modules.delete(module.id);
    this.#parts.bridges.remove(module.id);
    this.#revision++;
    this.#news.removed(module);
  }

  /** What a broken folder last was runs on, or again. */
  async #noteBroken({ plugins, broken }: Discovery): Promise<void> {
    this.#broken.replace(broken);
    for (const { folder } of broken.filter((each) => !this.#in(each.folder))) {
      const good = await this.#parts.lastGoods.pluginIn(folder);
      if (good && !plugins.has(good.id)) await this.#adopt(good);
    }
    this.#revision++;
  }

  #brokenViews(): readonly ModuleView[] {
    return this.#broken.views(({ name, folder }) => !!this.#in(folder) || this.#modules.has(name));
  }

  /** The module that runs from this folder. */
  #in(folder: string): Module | undefined {
    return [...this.#modules.values()].find(({ plugin }) => plugin.folder === folder);
  }

  async #adopt(plugin: PluginPackage): Promise<void> {
    const known = this.#modules.get(plugin.id);
    if (known && isDeepStrictEqual(known.plugin, plugin)) return known.want(plugin);
    if (known?.canBecome(plugin)) return this.#change(known, plugin);
    if (known) await this.#remove(known);
    const module = new Module(plugin, {
      ...this.#parts,
      changed: (which) => this.#changed(which),
      log: this.#news.logFor(plugin.id),
    });
    this.#modules.set(plugin.id, module);
    this.#parts.bridges.add(module);
  }

  /** Another manifest is taken over as other code is, and may want another arrangement then. */
  #change(module: Module, plugin: PluginPackage): void {
    module.want(plugin);
    if (module.view.state === "disabled") return;
    void quietly(module.reload("file")).then(() => this.#inOrder(() => this.#arrange()));
  }

  #changed(module: Module): void {
    this.#revision++;
    this.#news.changed(module);
    this.#following?.followLinks();
  }

  #configChanged(changed: readonly string[]): void {
    const mayAllowLinks = changed.some((key) => key.startsWith("modules."));
    void this.#inOrder(() => (mayAllowLinks ? this.#rediscover() : this.#arrange()));
    const concerned = [...this.#modules.values()].filter((module) =>
      isConcerned(module, changed, this.#parts.config.current),
    );
    const reloads = reloadInTurn(concerned, "config", this.#parts);
    // A stand-in makes way for what has started by that, and comes back for what has not.
    void reloads.then(() => this.#inOrder(() => this.#arrange()));
  }

  async #arrange(): Promise<void> {
    if (this.#isClosed) return; // a reload has ended late
    await arrange([...this.#modules.values()], this.#parts.config.current);
  }

  /** Finding, starting and stopping modules happens one after the other. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    return this.#turns.take(work).catch((error: unknown) => {
      this.#parts.log.error("the plugin folders could not be followed", { error });
    });
  }
}
