import type { ConfigStore } from "../../config/store.ts";
import type { Compiler } from "../build/compile.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { ModuleStatus } from "../state/status.ts";
import type { VersionStore } from "./version-store.ts";
import {
  type Build,
  isReplaceableBy,
  type History,
  versionIdOf,
  isSameBuild,
  isSameVersion,
  type OptionsSection,
  type Version,
  type WidgetBundle,
} from "./version.ts";

export interface VersionsDependencies {
  readonly id: string;
  readonly compiler: Compiler;
  readonly store: VersionStore;
  readonly config: ConfigStore;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
}

/**
 * The versions of one module: on disk, running, previous, last good, and the one that was rolled back. The last
 * three survive a restart of the host.
 */
export class ModuleVersions {
  /** The plugin as it is on disk. */
  onDisk: PluginPackage;
  /** The plugin that runs, or ran last. */
  plugin: PluginPackage;
  /** True if the version on disk does not run, because it is wrong or someone rolled it back. */
  hasPendingVersion = false;
  readonly #parts: VersionsDependencies;
  #server: Build | undefined;
  #serverBefore: Build | undefined;
  /** The config with which the server side last worked. */
  #section: OptionsSection | undefined;
  /** The last build that did not start; a second event of the same save does not try it again. */
  #failed: { readonly build: Build; readonly error: unknown } | undefined;
  #history: History | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(plugin: PluginPackage, parts: VersionsDependencies) {
    this.onDisk = plugin;
    this.plugin = plugin;
    this.#parts = parts;
  }

  /** The build of the server side that runs, or ran last. */
  get server(): Build | undefined {
    return this.#server;
  }

  /** The running version with its working config, for a later rollback. */
  running(widget: WidgetBundle | undefined): Version {
    const section = this.#section;
    const server = this.#server && { ...this.#server, ...(section && { section }) };
    return { plugin: this.plugin, server, widget };
  }

  /** The last good version, from before the host's start or since. It has both the server side and the widget. */
  lastGood(): Promise<Version | undefined> {
    return this.#parts.store.version(this.#parts.id);
  }

  /** The build of the last good server side. */
  lastGoodServer(): Promise<Build | undefined> {
    return this.#parts.store.server(this.#parts.id);
  }

  /** Records the build that runs now, or is about to start. */
  serverRuns(build: Build): void {
    if (this.#server !== build) this.#serverBefore = this.#server;
    this.#server = build;
    this.#failed = undefined;
  }

  /** Records that this last good build runs, because the one on disk did not start. */
  serverRestored(build: Build): void {
    this.#server = build;
    this.#serverBefore = undefined;
  }

  /** Stores the running build as good, with the current config. */
  async storeServer(): Promise<void> {
    const { id, store, config, log } = this.#parts;
    if (!this.#server) return;
    this.#section = config.sectionOf(id);
    await store.storeServer(this.#server, this.#section, log);
  }

  serverFailed(build: Build, error: unknown): void {
    this.#failed = { build, error };
  }

  /** The reason why this same build did not start, if it was the last one tried. */
  failureOf(build: Build): { readonly error: unknown } | undefined {
    return this.#failed && isSameBuild(build, this.#failed.build) ? this.#failed : undefined;
  }

  /**
   * Deletes all compiled code except what runs and what may run again: after a change the build before it, otherwise
   * the previous version and `good`.
   */
  async deleteUnused(good?: Build): Promise<void> {
    const { id, compiler, store } = this.#parts;
    const before = this.#serverBefore;
    const hasChanged = before !== undefined && !isSameBuild(before, this.#server);
    const others = hasChanged ? [] : [good, this.#history?.previous?.server];
    const builds = [this.#server, before, ...others].filter((build) => build !== undefined);
    if (await compiler.prune(id, builds)) await compiler.pruneVendors(await store.vendors());
  }

  /** Reads the records from before the host's start. */
  async readHistory(): Promise<void> {
    if (!this.#history) this.#show(await this.#parts.store.history(this.#parts.id));
  }

  /** The version for a rollback; `undefined` without one, or if it is another kind of plugin. */
  get previous(): Version | undefined {
    const previous = this.#history?.previous;
    return previous && isReplaceableBy(this.plugin, previous.plugin) ? previous : undefined;
  }

  /** True if someone rolled back the version that was on disk then. */
  get isRolledBack(): boolean {
    return this.#history?.rolledBack !== undefined;
  }

  /** True if this is the version that was rolled back. */
  wasRolledBack(version: Version): boolean {
    const { rolledBack } = this.#history ?? {};
    if (!rolledBack) return false;
    const { at: _at, ...id } = rolledBack;
    return isSameVersion(id, versionIdOf(version));
  }

  /** Records that `now` replaced `before`, which becomes the version for a rollback. */
  replaced(before: Version | undefined, now: Version): void {
    if (before && isSameVersion(versionIdOf(before), versionIdOf(now))) return;
    const { previous } = this.#history ?? {};
    this.#change({
      previous: before ? { ...before, until: new Date().toISOString() } : previous,
    });
  }

  /** Records that someone rolled back `version`; the version before the running one is unknown. */
  rolledBack(version: Version): void {
    this.#change({ rolledBack: { ...versionIdOf(version), at: new Date().toISOString() } });
  }

  /** Ends the rollback: the version on disk is wanted again. */
  endRollback(): void {
    if (this.isRolledBack) this.#change({ previous: this.#history?.previous });
  }

  /** Forgets the previous version, because it runs again or is wrong. */
  forgetPrevious(): void {
    this.#change({});
  }

  /** Resolves when all records are stored. */
  async stored(): Promise<void> {
    await this.#storing;
  }

  /** Stores the record in the background. */
  #change(history: History): void {
    const { id, store, log } = this.#parts;
    this.#show(history);
    this.#storing = this.#storing.then(() => store.storeHistory(id, history, log));
  }

  #show(history: History): void {
    this.#history = history;
    const { previous, rolledBack } = history;
    this.#parts.status.historyChanged({
      earlier: previous ? { version: previous.plugin.version, until: previous.until } : null,
      heldSince: rolledBack?.at ?? null,
    });
  }
}
