import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleView } from "../api/module.ts";
import type { Operation } from "../api/plugin.ts";
import type { HostLog } from "../log.ts";
import { findKindTwin, sharedKind } from "../modules/manifest/discover.ts";
import { linkNotAllowed } from "../modules/manifest/linked-packages.ts";
import type { PluginPackage } from "../modules/manifest/manifest.ts";
import type { HostVersions } from "./compatibility.ts";
import type { InstalledVersion, LockEntry, PackageLock } from "./lock.ts";
import { type OperationContext, Operations } from "./operations.ts";
import { PackageFolders } from "./package-folders.ts";
import { type PreparedPackage, withPrepared } from "./prepare.ts";
import { formatSource, isExact, type PackageSource, parseSource, withVersion } from "./source.ts";

/** The plugins around the packages: modules of a running host, or only files. */
export interface PluginDirectory {
  /** All plugins, installed or not. */
  plugins(): Promise<readonly PluginPackage[]>;
  isShippedId(id: string): boolean;
  allowsLink(id: string): boolean;
  /** The folder of the running version. */
  runningFolder(id: string): string | undefined;
  /** The module; `undefined` for an unknown id, and without a running host. */
  view(id: string): ModuleView | undefined;
  /** Lets a changed, added or removed package take effect, and resolves with its module. */
  follow(id: string): Promise<ModuleView | undefined>;
  /** Forgets the consent to a plugin. */
  forgetConsent(id: string): Promise<void>;
  /** Deletes the compiled code of a removed plugin and, with `purge`, its options, secrets and storage. */
  forget(id: string, purge: boolean): Promise<void>;
}

export interface PackagesDependencies {
  readonly dataFolder: string;
  readonly lock: PackageLock;
  readonly versions: HostVersions;
  readonly log: HostLog;
  readonly directory: PluginDirectory;
  /** Called at each step of an operation. */
  readonly progress: (operation: Operation) => void;
  /** Called after a package was installed, updated, put back or removed. */
  readonly changed: (id: string, action: PackageChange, version: string) => void;
}

export type PackageChange = "installed" | "updated" | "rolled_back" | "removed";

/** An update that did not start, so that the version before it was put back. */
export interface Rejected {
  readonly version: string;
  readonly at: string;
  readonly reason: string;
}

export interface InstallRequest {
  readonly source: string;
  readonly version?: string | undefined;
  /** Dependencies whose install scripts may run. */
  readonly scripts?: readonly string[] | undefined;
}

export type UpdateRequest = Omit<InstallRequest, "source">;

/** The result of an installation or an update. */
export interface PackageResult {
  readonly id: string;
  readonly result: "installed" | "updated" | "unchanged";
}

/**
 * The installed plugin packages of a home. The folder of a version is complete before the lock document names it. So a
 * crash leaves the old version or the new one.
 */
export class Packages {
  readonly folders: PackageFolders;
  readonly #parts: PackagesDependencies;
  readonly #operations: Operations;
  readonly #rejected = new Map<string, Rejected>();

  constructor(parts: PackagesDependencies) {
    this.#parts = parts;
    this.folders = new PackageFolders(parts);
    this.#operations = new Operations(parts.progress);
  }

  /** Running, waiting and recent operations. */
  get operations(): readonly Operation[] {
    return this.#operations.list;
  }

  rejected(id: string): Rejected | undefined {
    return this.#rejected.get(id);
  }

  /**
   * Installs a plugin. It starts once its permissions are consented to.
   * @throws MantelError `invalid`, `plugin_exists`, `install_failed`, `registry_down`, `disk_full`, `module_busy`
   */
  install({ source: text, version, scripts = [] }: InstallRequest) {
    const parsed = parseSource(text);
    const source = version === undefined ? parsed : withVersion(parsed, version);
    const work = { action: "install", source: formatSource(source), plugin: null } as const;
    return this.#operations.run(work, async (context): Promise<PackageResult> => {
      const prepare = { ...this.#preparation(source, context), scripts, isInstalled: () => false };
      const id = await withPrepared(prepare, async (prepared) => {
        await this.#assertFree(prepared, undefined);
        await this.#parts.directory.forgetConsent(prepared.plugin.id);
        const stored = { source: formatSource(parsed), scripts };
        await this.#take(prepared, stored, { pinned: false, context });
        return prepared.plugin.id;
      });
      this.#parts.changed(id ?? "", "installed", this.#entry(id ?? "").version);
      return { id: id ?? "", result: "installed" };
    });
  }

  /**
   * Updates a plugin to the newest version of its source, or to the given one. If the new version does not start, the
   * version before it is put back.
   * @throws MantelError `plugin_unknown`, `plugin_pinned`; `reload_failed` if it did not start; otherwise as `install`
   */
  update(id: string, { version, scripts }: UpdateRequest = {}) {
    const entry = this.#entry(id);
    if (entry.pinned && version === undefined && scripts === undefined) {
      throw new MantelError(
        "plugin_pinned",
        `${id} is pinned to ${entry.version}; release the pin, or name the version`,
      );
    }
    const source = this.#sourceOf(entry, version);
    const work = { action: "update", source: formatSource(source), plugin: id } as const;
    return this.#operations.run(work, (context) => this.#update(id, source, scripts, context));
  }

  /** Pins a plugin to its version, or releases it. @throws MantelError `plugin_unknown`, `disk_full` */
  pin(id: string, pinned: boolean): Promise<void> {
    const { source } = this.#entry(id);
    const pin = async () => this.#parts.lock.set({ ...this.#entry(id), pinned });
    return this.#operations.run({ action: "pin", source, plugin: id }, pin).done;
  }

  /**
   * Removes a plugin with its code and consent and, with `purge`, its options, secrets and storage.
   * @throws MantelError `plugin_unknown`, `disk_full`
   */
  remove(id: string, { purge }: { purge: boolean }) {
    const { source } = this.#entry(id);
    return this.#operations.run({ action: "remove", source, plugin: id }, async ({ step }) => {
      const { version } = this.#entry(id);
      step(`stopping ${id}`);
      await this.#parts.lock.remove(id);
      await this.#parts.directory.follow(id);
      step("deleting its files");
      await this.#parts.directory.forget(id, purge);
      this.#rejected.delete(id);
      await this.folders.sweep();
      this.#parts.changed(id, "removed", version);
    });
  }

  /** Puts the version before an update back if the update crashed or did not start. Call it at each module change. */
  moduleChanged({ id, lastReload }: ModuleView): void {
    const entry = this.#parts.lock.find(id);
    if (!entry?.previous || !isRejection(lastReload, entry)) return;
    if (this.operations.some(({ plugin, endedAt }) => plugin === id && endedAt === null)) return;
    const reason = lastReload?.error?.message ?? "it did not start";
    const work = { action: "update", source: entry.source, plugin: id } as const;
    const putBack = async (): Promise<void> => {
      const now = this.#parts.lock.find(id);
      if (now?.previous && now.folder === entry.folder) await this.#putBack(now, reason);
    };
    this.#operations.run(work, putBack).done.catch((error: unknown) => {
      this.#parts.log.error("could not restore the previous version of a plugin", { id, error });
    });
  }

  async close(): Promise<void> {
    await this.#operations.close();
  }

  async #update(
    id: string,
    source: PackageSource,
    wanted: readonly string[] | undefined,
    context: OperationContext,
  ): Promise<PackageResult> {
    const before = this.#entry(id);
    const scripts = wanted ?? before.scripts;
    const hasSameScripts = scripts.join() === before.scripts.join();
    const prepare = {
      ...this.#preparation(source, context),
      scripts,
      isInstalled: (integrity: string) =>
        integrity === before.integrity && hasSameScripts && this.folders.isPresent(before),
    };
    const wasWorking = isWorking(this.#parts.directory.view(id));
    const done = await withPrepared(prepare, async (prepared) => {
      await this.#assertFree(prepared, before);
      assertSameContent(prepared, before);
      const stored = { source: before.source, scripts };
      const view = await this.#take(prepared, stored, { pinned: before.pinned, context, before });
      return { view };
    });
    if (!done) return { id, result: "unchanged" };
    const entry = this.#entry(id);
    const failure = failureOf(done.view, entry, wasWorking);
    if (failure !== undefined && entry.previous) {
      await this.#putBack(entry, failure);
      throw new MantelError(
        "reload_failed",
        `${id} ${entry.version} did not start, and ${entry.previous.version} was put back: ${failure}`,
        { rolledBack: true },
      );
    }
    this.#rejected.delete(id);
    this.#parts.changed(id, "updated", entry.version);
    return { id, result: "updated" };
  }

  /** Moves a prepared package into place, lets the lock document name it, and starts it. */
  async #take(
    { plugin, name, integrity, folder }: PreparedPackage,
    stored: { readonly source: string; readonly scripts: readonly string[] },
    how: {
      readonly pinned: boolean;
      readonly context: OperationContext;
      readonly before?: LockEntry;
    },
  ): Promise<ModuleView | undefined> {
    const { id, version } = plugin;
    const { lock, directory } = this.#parts;
    const { context, before } = how;
    context.names(id);
    const place = integrity === null ? folder : await this.folders.moveIn(id, version, folder);
    const previous = before && this.#previousOf(before);
    await lock.set({
      id,
      name,
      version,
      source: stored.source,
      integrity,
      folder: place,
      installedAt: new Date().toISOString(),
      scripts: [...stored.scripts],
      pinned: how.pinned,
      ...(previous ? { previous } : {}),
    });
    context.step(`starting ${id} ${version}`);
    const view = await directory.follow(id);
    await this.folders.sweep();
    return view;
  }

  /** The version that runs. An update that still waits for consent never ran, and is given up. */
  #previousOf(before: LockEntry): InstalledVersion | undefined {
    const { id: _id, pinned: _pinned, previous, ...installed } = before;
    const running = this.#parts.directory.runningFolder(before.id);
    const isRunning = running === undefined || running === this.folders.of(before);
    return isRunning ? installed : (previous ?? installed);
  }

  async #putBack(entry: LockEntry, reason: string): Promise<void> {
    const { id, version, previous, pinned } = entry;
    if (!previous) return;
    const { lock, directory, log, changed } = this.#parts;
    await lock.set({ ...previous, id, pinned });
    const at = new Date().toISOString();
    this.#rejected.set(id, { version, at, reason });
    log.warn("an update did not start; restored the previous version", { id, version, reason });
    await directory.follow(id); // a warm process may still look into the other folder, which the next sweep removes
    changed(id, "rolled_back", previous.version);
  }

  /** @throws MantelError `plugin_exists`, naming the other plugin */
  async #assertFree(
    { plugin, integrity }: PreparedPackage,
    before: LockEntry | undefined,
  ): Promise<void> {
    const { lock, directory } = this.#parts;
    const { id } = plugin;
    if (before && before.id !== id) {
      throw new MantelError(
        "install_failed",
        `this version of ${before.id} has another id, ${id}; install it as a plugin of its own`,
      );
    }
    if (!before && lock.find(id)) {
      throw new MantelError("plugin_exists", `${id} is installed already; update it instead`);
    }
    const others = (await directory.plugins()).filter((other) => other.id !== before?.id);
    const twin = others.find((other) => other.id === id);
    if (twin) {
      throw new MantelError(
        "plugin_exists",
        `${plugin.manifest.title ?? id} has the id ${id}, and so has the plugin in ${twin.folder}; remove that one first`,
      );
    }
    const kindTwin = findKindTwin(plugin, others, (each) => directory.isShippedId(each));
    if (kindTwin) throw sharedKind(plugin, kindTwin);
    if (integrity === null && !directory.allowsLink(id)) {
      throw new MantelError("invalid", linkNotAllowed(plugin.folder, id));
    }
  }

  #sourceOf(entry: LockEntry, version: string | undefined): PackageSource {
    const source = parseSource(entry.source);
    if (version !== undefined) return withVersion(source, version);
    // Only its install scripts change.
    if (entry.pinned && source.kind === "npm") return withVersion(source, entry.version);
    // Installed at one version and not pinned: an update means the newest.
    return isExact(source) && source.kind === "npm" ? { kind: "npm", name: source.name } : source;
  }

  #preparation(source: PackageSource, context: OperationContext) {
    return { root: this.folders.root, versions: this.#parts.versions, source, context };
  }

  /** @throws MantelError `plugin_unknown` */
  #entry(id: string): LockEntry {
    const entry = this.#parts.lock.find(id);
    if (entry) return entry;
    throw new MantelError(
      "plugin_unknown",
      `no plugin ${id} is installed; see the list of plugins`,
    );
  }
}

/** The reason why an update did not start; `undefined` if it did, waits for consent, or nothing runs here. */
function failureOf(
  view: ModuleView | undefined,
  entry: LockEntry,
  wasWorking: boolean,
): string | undefined {
  if (isRejection(view?.lastReload, entry)) return view?.lastReload?.error?.message ?? "";
  const hasFailed = view?.state === "failed" && wasWorking; // another kind of plugin, which replaced the old one
  return hasFailed ? (view.error?.message ?? "") : undefined;
}

const isWorking = (view: ModuleView | undefined): boolean =>
  view !== undefined && ["active", "degraded", "reloading"].includes(view.state);

/** True for a reload since this version was installed that ended with the version before it. */
function isRejection(
  reload: ModuleView["lastReload"] | undefined,
  { installedAt }: LockEntry,
): boolean {
  if (reload?.result !== "rolled_back" || reload.trigger === "rollback") return false;
  return reload.at >= installedAt;
}

/** A registry must not answer with other content for the same version. */
function assertSameContent({ plugin, name, integrity }: PreparedPackage, before: LockEntry): void {
  const isSameVersion = plugin.version === before.version && name === before.name;
  if (!isSameVersion || integrity === before.integrity) return;
  if (parseSource(before.source).kind !== "npm") return;
  throw new MantelError(
    "install_failed",
    `${name} ${plugin.version} now has other content than when it was installed; a published version never changes. Remove the plugin and install it again if that is intended`,
  );
}
