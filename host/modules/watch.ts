import { basename, join, relative, sep } from "node:path";
import { watch, type FSWatcher } from "chokidar";
import { filled } from "./filled.ts";

/** Several saves within this time are one change; editors write in more than one step. */
const SETTLE_MS = 5;
const IGNORED = /(^|[\\/])(node_modules|\.[^\\/]+|[^\\/]*~)([\\/]|$)/;

/** What changed below one plugin folder. Paths are absolute. */
export interface FolderChange {
  readonly folder: string;
  readonly files: readonly string[];
}

/** Watches plugin folders and the SDK, and tells of changes once they have settled. */
export class Watcher {
  readonly #roots: readonly string[];
  readonly #onChange: (change: FolderChange) => void;
  readonly #settling = new Map<string, { files: Set<string>; timer: NodeJS.Timeout }>();
  readonly #watcher: FSWatcher;
  #isClosed = false;

  private constructor(roots: readonly string[], onChange: (change: FolderChange) => void) {
    this.#roots = roots;
    this.#onChange = onChange;
    this.#watcher = watch([...roots], {
      ignoreInitial: true,
      followSymlinks: false,
      atomic: 20,
      ignored: (path) => {
        const root = roots.find((each) => path.startsWith(each + sep));
        return root !== undefined && IGNORED.test(relative(root, path));
      },
    });
    this.#watcher.on("all", (_event, path) => void this.#note(path));
    // Of two changes of a file within 50 ms chokidar tells only the first; the system's own events
    // tell of both.
    this.#watcher.on("raw", (_event, name, details) => {
      const { watchedPath } = details as { watchedPath: string };
      void this.#note(basename(watchedPath) === name ? watchedPath : join(watchedPath, name));
    });
  }

  /** Resolves when every change from now on will be told. */
  static async open(
    roots: readonly string[],
    onChange: (change: FolderChange) => void,
  ): Promise<Watcher> {
    const watcher = new Watcher(roots, onChange);
    await new Promise<void>((resolve) => void watcher.#watcher.once("ready", () => resolve()));
    return watcher;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#settling.values()) clearTimeout(timer);
    await this.#watcher.close();
  }

  async #note(path: string): Promise<void> {
    const root = this.#roots.find((each) => path.startsWith(each + sep));
    if (root === undefined || IGNORED.test(relative(root, path))) return;
    await filled(path);
    if (this.#isClosed) return;
    const [name = ""] = relative(root, path).split(sep);
    const folder = join(root, name);
    const known = this.#settling.get(folder);
    clearTimeout(known?.timer);
    const files = known?.files ?? new Set();
    files.add(path);
    const timer = setTimeout(() => {
      this.#settling.delete(folder);
      this.#onChange({ folder, files: [...files] });
    }, SETTLE_MS);
    this.#settling.set(folder, { files, timer });
  }
}
