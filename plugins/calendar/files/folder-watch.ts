import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DelayedCall } from "@mantel/plugin-sdk";
import { isCalendarFile } from "./folder-entry.ts";

export interface FolderWatchOptions {
  readonly path: string;
  /** Called with the name of an entry that may have changed, itself or inside. */
  readonly changed: (name: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** Interval for checking whether a removed folder is back. */
const BACK_MS = 1_000;

/**
 * Watches a folder and its subfolders, also when it is removed and comes back. It never follows
 * links: chokidar does, which the sandbox of a plugin does not permit, and a single link to
 * elsewhere would hide all its siblings.
 */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  /** By name; the folder itself has an empty name. */
  readonly #watchers = new Map<string, FSWatcher>();
  /** Inode of the watched folder. A new folder at the same path has another one. */
  #inode: number | undefined;
  /** Known entries of the folder. */
  readonly #known = new Set<string>();
  readonly #returnSoon = new DelayedCall(() => void this.#return());
  #closed = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Starts watching, and returns the names of the existing calendars. */
  async start(): Promise<string[]> {
    const { path } = this.#options;
    this.#inode = (await lstat(path)).ino;
    if (this.#closed) return [];
    this.#watch("", (name) => void this.#look(name));
    const entries = await readdir(path, { withFileTypes: true });
    const names: string[] = [];
    for (const entry of entries) {
      if (!entry.isDirectory()) {
        if (isCalendarFile(entry.name)) names.push(entry.name);
        continue;
      }
      this.#watchInside(entry.name);
      const inside = await readdir(join(path, entry.name)).catch(() => []);
      if (inside.some(isCalendarFile)) names.push(entry.name);
    }
    for (const name of names) this.#known.add(name);
    return names.toSorted();
  }

  close(): void {
    this.#closed = true;
    this.#returnSoon.stop();
    for (const name of [...this.#watchers.keys()]) this.#unwatch(name);
  }

  /**
   * Handles an event: an entry was created, changed, replaced or removed. Without a name it may be
   * any entry.
   */
  async #look(name: string | null): Promise<void> {
    const { path, changed, onFault } = this.#options;
    try {
      if ((await find(path))?.ino !== this.#inode) return this.#lose();
      if (name === null) {
        for (const each of await readdir(path)) await this.#look(each);
        return;
      }
      const stats = await find(join(path, name));
      if (this.#closed) return;
      if (stats?.isDirectory()) this.#watchInside(name);
      else this.#unwatch(name);
      if (stats) this.#known.add(name);
      else this.#known.delete(name);
      changed(name);
    } catch (error) {
      onFault(error);
    }
  }

  /** Handles a folder that was removed or replaced: all its entries are gone. */
  #lose(): void {
    if (this.#closed) return;
    for (const name of [...this.#watchers.keys()]) this.#unwatch(name);
    for (const name of this.#known) this.#options.changed(name);
    this.#known.clear();
    this.#returnSoon.restart(BACK_MS);
  }

  async #return(): Promise<void> {
    try {
      for (const name of await this.start()) if (!this.#closed) this.#options.changed(name);
    } catch {
      this.#lose(); // it does not exist yet
    }
  }

  /** Replaces the previous watcher, because another folder may have the same name now. */
  #watchInside(name: string): void {
    this.#unwatch(name);
    this.#watch(name, () => this.#options.changed(name));
  }

  #unwatch(name: string): void {
    this.#watchers.get(name)?.close();
    this.#watchers.delete(name);
  }

  #watch(name: string, tell: (name: string | null) => void): void {
    const { path, onFault } = this.#options;
    if (this.#closed) return;
    try {
      const watcher = watch(join(path, name), (_, changed) => tell(changed));
      watcher.on("error", onFault);
      this.#watchers.set(name, watcher);
    } catch (error) {
      onFault(error); // it no longer exists, or the system cannot watch more
    }
  }
}

const find = (path: string) => lstat(path).catch(() => undefined);
