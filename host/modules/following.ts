import { sep } from "node:path";
import type { HostLog } from "../log.ts";
import { foldersBeside, usesLink } from "./code/links.ts";
import { SDK_FOLDER } from "./code/own-sources.ts";
import { quietly } from "./in-turn.ts";
import type { Module } from "./module.ts";
import { type FolderChange, Watcher } from "./watch/watch.ts";

export interface FollowingParts {
  readonly log: HostLog;
  readonly modules: () => readonly Module[];
  /** Whether nothing in this folder is to be reloaded now. */
  readonly isBroken: (folder: string) => boolean;
  /** Looks for plugins anew, starting and stopping modules. */
  readonly rediscover: () => Promise<void>;
  readonly renewRuntime: () => void;
}

/** What a change on the disk leads to: a reload, another set of modules, another runtime, or nothing. */
export class Following {
  readonly #roots: readonly string[];
  readonly #parts: FollowingParts;
  readonly #watcher: Watcher;

  constructor(roots: readonly string[], parts: FollowingParts) {
    this.#roots = roots;
    this.#parts = parts;
    this.#watcher = new Watcher([...roots, SDK_FOLDER], {
      onChange: (change) => this.#changed(change),
      concerns: (path) => parts.modules().some((module) => concerns(module, path)),
      onFailure: (folder, error) =>
        parts.log.error("changes in a folder are not seen", { folder, error }),
    });
  }

  /** Watches what modules are made of besides: plugins and packages that are links. */
  followLinks(): void {
    this.#watcher.follow(foldersBeside(this.#roots, this.#parts.modules()));
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

  /** Every process runs the SDK, and some of it is bundled with the modules that import it. */
  #sdkChanged(files: readonly string[]): void {
    this.#parts.renewRuntime();
    for (const module of this.#parts.modules()) {
      const isMeant = module.isWorking && files.some((file) => concerns(module, file));
      if (isMeant) void quietly(module.reload("file"));
    }
  }

  #pluginChanged({ folder, files }: FolderChange): void {
    const { rediscover } = this.#parts;
    const module = this.#in(folder);
    if (module && !holdsManifest(folder, files)) this.#reload(module, files);
    else void rediscover().then(() => module && this.#reload(module, files));
  }

  /** A module that is new has just started; one whose manifest is broken goes on with what it has. */
  #reload(module: Module, files: readonly string[]): void {
    const { folder } = module.plugin;
    const isMeant = holdsManifest(folder, files) || files.some((file) => concerns(module, file));
    if (!isMeant) return;
    if (this.#in(folder) !== module || this.#parts.isBroken(folder)) return;
    void quietly(module.reload("file"));
  }

  /** The module that runs from this folder. */
  #in(folder: string): Module | undefined {
    return this.#parts.modules().find(({ plugin }) => plugin.folder === folder);
  }
}

/** Whether a change of this file or folder may change the module. */
function concerns({ mayUseAny, inputs }: Module, path: string): boolean {
  return mayUseAny || [...inputs].some((file) => file === path || file.startsWith(path + sep));
}

/** Whether a folder came or went, or what its plugin says of itself may be another. */
function holdsManifest(folder: string, files: readonly string[]): boolean {
  return files.some((file) => file === folder || file.endsWith("/package.json"));
}
