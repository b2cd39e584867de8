import { dirname, sep } from "node:path";
import type { HostLog } from "../log.ts";
import { SDK_FOLDER } from "./build/esbuild-plugin.ts";
import type { Module } from "./lifecycle/module.ts";
import { ignoreFailure } from "./lifecycle/reload-one-by-one.ts";
import { linkedFolders, usesLink } from "./manifest/linked-packages.ts";
import { type FolderChange, Watcher, type WatcherDependencies } from "./watch/watch.ts";

export interface HotReloadDependencies {
  readonly log: HostLog;
  readonly modules: () => readonly Module[];
  /** True if nothing in this folder can be reloaded now. */
  readonly isBroken: (folder: string) => boolean;
  /** Searches for plugins again, and starts and stops modules accordingly. */
  readonly rediscover: () => Promise<void>;
  readonly renewRuntime: () => void;
}

type Watch = (
  roots: readonly string[],
  parts: WatcherDependencies,
) => Pick<Watcher, "follow" | "isSettling" | "close">;

const openWatcher: Watch = (roots, parts) => new Watcher(roots, parts);

/** Reacts to file changes: reloads modules, searches for plugins again, recompiles the runtime, or does nothing. */
export class HotReload {
  readonly #roots: readonly string[];
  readonly #parts: HotReloadDependencies;
  readonly #watcher: ReturnType<Watch>;

  constructor(roots: readonly string[], parts: HotReloadDependencies, watch = openWatcher) {
    this.#roots = roots;
    this.#parts = parts;
    this.#watcher = watch([...roots, SDK_FOLDER], {
      onChange: (change) => this.#changed(change),
      isNew: (folder) =>
        roots.includes(dirname(folder)) && !this.#in(folder) && !parts.isBroken(folder),
      concerns: (path) => parts.modules().some((module) => concerns(module, path)),
      onFailure: (folder, error) =>
        parts.log.error("cannot watch a folder; its changes are not applied", { folder, error }),
    });
  }

  /** Watches the folders outside the plugin roots that modules use: plugins and packages that are links. */
  followLinks(): void {
    this.#watcher.follow(linkedFolders(this.#roots, this.#parts.modules()));
  }

  /** True for a folder that is being written, such as a copy or a scaffold. */
  isSettling(folder: string): boolean {
    return this.#watcher.isSettling(folder);
  }

  close(): void {
    this.#watcher.close();
  }

  #changed({ folder, files }: FolderChange): void {
    if (folder.startsWith(SDK_FOLDER)) return this.#sdkChanged(files);
    const users = this.#parts.modules().filter((module) => usesLink(module, folder));
    for (const module of users) this.#reload(module, files);
    if (users.length === 0) this.#pluginChanged({ folder, files });
  }

  /**
   * Handles a change of the SDK: every process runs it, and parts of it are bundled with the modules that import
   * it.
   */
  #sdkChanged(files: readonly string[]): void {
    this.#parts.renewRuntime();
    for (const module of this.#parts.modules()) {
      const isMeant = module.isWorking && files.some((file) => concerns(module, file));
      if (isMeant) void ignoreFailure(module.reload("file"));
    }
  }

  #pluginChanged({ folder, files }: FolderChange): void {
    const { rediscover } = this.#parts;
    const module = this.#in(folder);
    if (module && !mayChangeManifest(folder, files)) this.#reload(module, files);
    else void rediscover().then(() => module && this.#reload(module, files));
  }

  /** Reloads a module. A new module has just started; one with a broken manifest keeps running what it has. */
  #reload(module: Module, files: readonly string[]): void {
    const { folder } = module.plugin;
    const isMeant =
      mayChangeManifest(folder, files) || files.some((file) => concerns(module, file));
    if (!isMeant) return;
    if (this.#in(folder) !== module || this.#parts.isBroken(folder)) return;
    void ignoreFailure(module.reload("file"));
  }

  /** The module that runs from this folder. */
  #in(folder: string): Module | undefined {
    return this.#parts.modules().find(({ plugin }) => plugin.folder === folder);
  }
}

/** True if a change of this file or folder may change the module. */
function concerns({ mayUseAnyFile, inputs }: Module, path: string): boolean {
  return mayUseAnyFile || [...inputs].some((file) => file === path || file.startsWith(path + sep));
}

/** True if a folder was added or removed, or a plugin's manifest may have changed. */
function mayChangeManifest(folder: string, files: readonly string[]): boolean {
  return files.some((file) => file === folder || file.endsWith("/package.json"));
}
