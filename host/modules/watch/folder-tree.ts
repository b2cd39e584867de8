import { type Dirent, type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { lstatOf } from "../../stat-of.ts";

export interface TreeEvents {
  /** Whether what lies at this path, and all below it, is nobody's concern. */
  readonly ignores: (path: string) => boolean;
  /** Something at this path was made, written, moved or removed. */
  readonly touched: (path: string) => void;
  /** Changes in this folder are not seen. */
  readonly failed: (folder: string, error: unknown) => void;
}

/**
 * Tells of every change below one folder, also of what is in a folder that has just appeared.
 *
 * The system watches folders one by one and not paths: a folder that was deleted and made again is
 * another folder. So each entry that comes or goes is looked at anew, and a folder is watched first and
 * read afterwards, which leaves no moment between the two for a save to fall into.
 */
export class FolderTree {
  readonly #events: TreeEvents;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Watches the folder above, because only that one tells when the root itself comes again. */
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

  /** Watches a folder and all below it, and names to `found` what is there already. */
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

  /** What is at a path that came, went or changed its meaning. */
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
      fail(error); // it has gone again, or the system watches no more folders (ENOSPC, EMFILE)
      return undefined;
    }
  }
}

function isFolder(path: string): boolean {
  return lstatOf(path)?.isDirectory() ?? false;
}

function entriesOf(folder: string): [path: string, entry: Dirent][] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => [join(folder, entry.name), entry]);
  } catch {
    return []; // it has gone again, which the folder above tells
  }
}
