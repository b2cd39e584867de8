import { join, relative, sep } from "node:path";
import { FolderTree } from "./folder-tree.ts";
import { isWriteSettled } from "./write-settled.ts";

/** Several saves within this time are one change; editors write in more than one step. */
const SETTLE_MS = 5;
/** Files that tools put beside sources, such as backups and locks of editors. */
const IGNORED = /(^|[\\/])(node_modules|\.[^\\/]+|[^\\/]*~|#[^\\/]*#)([\\/]|$)/;

/** A change below one plugin folder. Paths are absolute. */
export interface FolderChange {
  readonly folder: string;
  readonly files: readonly string[];
}

export interface WatcherDependencies {
  readonly onChange: (change: FolderChange) => void;
  /** True if a module uses this file or folder: when it disappears, it gets time to come back. */
  readonly concerns: (path: string) => boolean;
  /** True for a folder that is not a module yet: copying it may take several steps. */
  readonly isNew?: (folder: string) => boolean;
  /** Called if this folder cannot be watched. */
  readonly onFailure: (folder: string, error: unknown) => void;
}

interface Settling {
  readonly files: Set<string>;
  readonly firstAt: number;
  lastAt: number;
  timer: NodeJS.Timeout;
}

/** Watches plugin folders and reports changes once they have settled. */
export class Watcher {
  readonly #parts: WatcherDependencies;
  readonly #roots: readonly FolderTree[];
  readonly #linked = new Map<string, FolderTree>();
  readonly #settling = new Map<string, Settling>();

  /** Reports every change from now on below one of `roots`, which hold a folder for each plugin. */
  constructor(roots: readonly string[], parts: WatcherDependencies) {
    this.#parts = parts;
    this.#roots = roots.map((root) =>
      this.#open(root, (path) => join(root, relative(root, path).split(sep)[0] ?? "")),
    );
  }

  /** Additionally watches exactly these folders, each of which is one plugin or package. */
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

  /** True if changes of this folder are not complete yet. */
  isSettling(folder: string): boolean {
    return this.#settling.has(folder);
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
    const firstAt = known?.firstAt ?? lastAt;
    this.#settling.set(folder, { files, firstAt, lastAt, timer: this.#settleSoon(folder) });
  }

  #settleSoon(folder: string): NodeJS.Timeout {
    return setTimeout(() => this.#settle(folder), SETTLE_MS);
  }

  #settle(folder: string): void {
    const settling = this.#settling.get(folder);
    if (!settling) return;
    const { files, firstAt, lastAt } = settling;
    const { concerns, onChange, isNew = () => false } = this.#parts;
    const now = performance.now();
    const times = { quietMs: now - lastAt, ageMs: now - firstAt };
    if (!isWriteSettled({ folder, files, concerns, isNew: isNew(folder), ...times })) {
      settling.timer = this.#settleSoon(folder);
      return;
    }
    this.#settling.delete(folder);
    onChange({ folder, files: [...files] });
  }
}
