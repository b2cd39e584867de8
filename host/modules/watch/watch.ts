import { join, relative, sep } from "node:path";
import { isAtRest } from "./at-rest.ts";
import { FolderTree } from "./folder-tree.ts";

/** Several saves within this time are one change; editors write in more than one step. */
const SETTLE_MS = 5;
/** What tools keep beside sources, backups and locks of editors among it. */
const IGNORED = /(^|[\\/])(node_modules|\.[^\\/]+|[^\\/]*~|#[^\\/]*#)([\\/]|$)/;

/** What changed below one plugin folder. Paths are absolute. */
export interface FolderChange {
  readonly folder: string;
  readonly files: readonly string[];
}

export interface WatcherParts {
  readonly onChange: (change: FolderChange) => void;
  /** Whether a module has a use for this file or folder: when it goes, it gets time to come again. */
  readonly concerns: (path: string) => boolean;
  /** Changes in this folder will not be told. */
  readonly onFailure: (folder: string, error: unknown) => void;
}

interface Settling {
  readonly files: Set<string>;
  lastAt: number;
  timer: NodeJS.Timeout;
}

/** Watches folders of plugins, and tells of changes once they have settled. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #roots: readonly FolderTree[];
  readonly #linked = new Map<string, FolderTree>();
  readonly #settling = new Map<string, Settling>();

  /** Every change from now on below one of `roots`, which hold a folder for each plugin, is told. */
  constructor(roots: readonly string[], parts: WatcherParts) {
    this.#parts = parts;
    this.#roots = roots.map((root) =>
      this.#open(root, (path) => join(root, relative(root, path).split(sep)[0] ?? "")),
    );
  }

  /** Watches these folders besides, each of which is one plugin or package, and no others any more. */
  follow(folders: ReadonlySet<string>): void {
    for (const [folder, tree] of this.#linked) {
      if (folders.has(folder)) continue;
      tree.close();
      this.#linked.delete(folder);
    }
    for (const folder of folders) {
      if (this.#linked.has(folder)) continue;
      this.#linked.set(
        folder,
        this.#open(folder, () => folder),
      );
      this.#note(folder, folder); // it may have changed since it was read
    }
  }

  close(): void {
    for (const tree of [...this.#roots, ...this.#linked.values()]) tree.close();
    for (const { timer } of this.#settling.values()) clearTimeout(timer);
  }

  #open(root: string, folderOf: (path: string) => string): FolderTree {
    return new FolderTree(root, {
      ignores: (path) => path !== root && IGNORED.test(relative(root, path)),
      touched: (path) => this.#note(folderOf(path), path),
      failed: this.#parts.onFailure,
    });
  }

  #note(folder: string, path: string): void {
    const known = this.#settling.get(folder);
    clearTimeout(known?.timer);
    const files = known?.files ?? new Set();
    files.add(path);
    const lastAt = performance.now();
    this.#settling.set(folder, { files, lastAt, timer: this.#settleSoon(folder) });
  }

  #settleSoon(folder: string): NodeJS.Timeout {
    return setTimeout(() => this.#settle(folder), SETTLE_MS);
  }

  #settle(folder: string): void {
    const settling = this.#settling.get(folder);
    if (!settling) return;
    const { files, lastAt } = settling;
    const { concerns, onChange } = this.#parts;
    if (!isAtRest({ folder, files, quietMs: performance.now() - lastAt, concerns })) {
      settling.timer = this.#settleSoon(folder);
      return;
    }
    this.#settling.delete(folder);
    onChange({ folder, files: [...files] });
  }
}
