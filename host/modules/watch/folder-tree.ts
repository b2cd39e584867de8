import { type Dirent, type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { findLinkStat } from "../../safe-stat.ts";

export interface TreeEvents {
  /** True if this path and everything below it must be ignored. */
  readonly ignores: (path: string) => boolean;
  /** Called when something at this path was created, written, moved or deleted. */
  readonly touched: (path: string) => void;
  /** Called if this folder cannot be watched. */
  readonly failed: (folder: string, error: unknown) => void;
}

/**
 * Reports every change below one folder, including the contents of new folders.
 *
 * The system watches individual folders and not paths: a folder that was deleted and created again is
 * another folder. So each entry that appears or disappears is examined again, and a folder is watched first and
 * read afterwards, so that no save is missed in between.
 */
export class FolderTree {
  readonly #events: TreeEvents;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Watches the parent folder, because only that one reports when the root itself is created again. */
  readonly #above: FSWatcher | undefined;

  constructor(root: string, events: TreeEvents) {
    this.#events = events;
    this.#above = this.#watch(dirname(root), (event, name) => {
      if (event === "rename" && name === basename(root)) this.#look(root);
    });
    this.#enter(root, () => undefined);
  }

  close(): void {
    this.#above?.close();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches a folder and all below it, and calls `found` for what already exists. */
  #enter(folder: string, found: (path: string) => void): void {
    const watcher = this.#watch(folder, (event, name) => {
      const path = join(folder, name);
      if (this.#events.ignores(path)) return;
      if (event === "rename") this.#look(path);
      else this.#events.touched(path);
    });
    if (!watcher) return;
    this.#watchers.set(folder, watcher);
    for (const [path, entry] of entriesOf(folder)) {
      if (this.#events.ignores(path)) continue;
      found(path);
      if (entry.isDirectory()) this.#enter(path, found);
    }
  }

  /** Examines a path that appeared, disappeared or changed its type. */
  #look(path: string): void {
    this.#leave(path);
    this.#events.touched(path);
    if (isFolder(path)) this.#enter(path, this.#events.touched);
  }

  #leave(folder: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (path !== folder && !path.startsWith(folder + sep)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
  }

  #watch(folder: string, listener: (event: string, name: string) => void): FSWatcher | undefined {
    const fail = (error: unknown): void => {
      if (isFolder(folder)) this.#events.failed(folder, error);
    };
    try {
      const watcher = watch(folder, (event, name) => {
        if (name !== null) listener(event, name);
      });
      return watcher.on("error", fail);
    } catch (error) {
      fail(error); // it is gone again, or the system watches no more folders (ENOSPC, EMFILE)
      return undefined;
    }
  }
}

function isFolder(path: string): boolean {
  return findLinkStat(path)?.isDirectory() ?? false;
}

function entriesOf(folder: string): [path: string, entry: Dirent][] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => [join(folder, entry.name), entry]);
  } catch {
    return []; // it is gone again, which the parent folder reports
  }
}
