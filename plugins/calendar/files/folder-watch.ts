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

/**
 * Watches a folder and the folders in it. It never asks where a link leads: chokidar does, which the process of a
 * plugin may not, and a single link to elsewhere would hide all that is beside it.
 */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  /** By name; the folder itself is the empty name. */
  readonly #watchers = new Map<string, FSWatcher>();
  #closed = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Begins to watch, and gives the names of the calendars that are there. */
  async start(): Promise<string[]> {
    const { path } = this.#options;
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
    return names.toSorted();
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  /** Something in the folder was made, changed, replaced or removed; without a name it may be anything. */
  async #look(name: string | null): Promise<void> {
    const { path, changed, onFault } = this.#options;
    try {
      if (name === null) {
        for (const each of await readdir(path)) await this.#look(each);
        return;
      }
      const stats = await lstat(join(path, name)).catch(() => undefined);
      if (this.#closed) return;
      if (stats?.isDirectory()) this.#watchInside(name);
      else this.#unwatch(name);
      changed(name);
    } catch (error) {
      onFault(error);
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
    try {
      const watcher = watch(join(path, name), (_, changed) => tell(changed));
      watcher.on("error", onFault);
      this.#watchers.set(name, watcher);
    } catch (error) {
      onFault(error); // it is gone again, or the system can watch no more
    }
  }
}
