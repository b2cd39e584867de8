import type { HostLog } from "../../log.ts";
import { brokenView } from "../status.ts";
import type { ModuleView } from "../view.ts";
import type { BrokenFolder } from "./discover.ts";

/** The folders that cannot be plugins now, and why. Each fault is logged once. */
export class BrokenFolders {
  readonly #log: HostLog;
  #folders: ReadonlyMap<string, BrokenFolder> = new Map();

  constructor(log: HostLog) {
    this.#log = log;
  }

  has(folder: string): boolean {
    return this.#folders.has(folder);
  }

  replace(broken: readonly BrokenFolder[]): void {
    for (const { folder, error } of broken) {
      if (this.#folders.get(folder)?.error.message === error.message) continue;
      const why = { error: error.message, faults: error.extras.errors };
      this.#log.error("a plugin folder is broken", { folder, ...why });
    }
    this.#folders = new Map(broken.map((each) => [each.folder, each]));
  }

  /** How they are listed, each under its folder's name, unless its last good code runs on. */
  views(runs: (broken: BrokenFolder) => boolean): readonly ModuleView[] {
    const listed = [...this.#folders.values()].filter((broken) => !runs(broken));
    return listed.map(({ name, error }) => brokenView(name, error));
  }
}
