import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isCalendarFile } from "./folder-entry.ts";

export interface FolderWatchOptions {
  readonly path: string;
  /** Told the name of what may have changed in the folder, itself or in it. */
  readonly changed: (name: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** How soon it is looked whether a folder that was taken away is there again. */
const BACK_MS = 1_000;

/**
 * Watches a folder and the folders in it, also when it is taken away and comes back. It never asks where a link
 * leads: chokidar does, which the process of a plugin may not, and a single link to elsewhere would hide all that
 * is beside it.
 */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  /** By name; the folder itself is the empty name. */
  readonly #watchers = new Map<string, FSWatcher>();
  /** What the folder is to the system; another one under its path is not watched yet. */
  #inode: number | undefined;
  /** What is in the folder, as far as it was told. */
  readonly #known = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Begins to watch, and gives the names of the calendars that are there. */
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
    clearTimeout(this.#timer);
    for (const name of [...this.#watchers.keys()]) this.#unwatch(name);
  }

  /** Something in the folder was made, changed, replaced or removed; without a name it may be anything. */
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

  /** The folder is gone, or another one now, and so is all that was in it. */
  #lose(): void {
    if (this.#closed) return;
    for (const name of [...this.#watchers.keys()]) this.#unwatch(name);
    for (const name of this.#known) this.#options.changed(name);
    this.#known.clear();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#return(), BACK_MS);
  }

  async #return(): Promise<void> {
    try {
      for (const name of await this.start()) if (!this.#closed) this.#options.changed(name);
    } catch {
      this.#lose(); // it is not there yet
    }
  }

  /** Anew each time, because another folder may be there under the same name. */
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
      onFault(error); // it is gone again, or the system can watch no more
    }
  }
}

const find = (path: string) => lstat(path).catch(() => undefined);
