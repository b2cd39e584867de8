import type { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleView } from "../../api/module.ts";
import type { HostLog } from "../../log.ts";
import type { InvalidPlugin } from "../manifest/discover.ts";
import { invalidPluginView } from "./status.ts";

/** The folders that are not valid plugins now, with the reasons. Each fault is logged once. */
export class InvalidPlugins {
  readonly #log: HostLog;
  #folders: ReadonlyMap<string, InvalidPlugin> = new Map();

  constructor(log: HostLog) {
    this.#log = log;
  }

  /** The reason why this folder is not a valid plugin now. */
  errorOf(folder: string): MantelError | undefined {
    return this.#folders.get(folder)?.error;
  }

  replace(broken: readonly InvalidPlugin[]): void {
    for (const { folder, error } of broken) {
      if (this.#folders.get(folder)?.error.message === error.message) continue;
      const why = { error: error.message, faults: error.extras.errors };
      this.#log.error("invalid plugin folder", { folder, ...why });
    }
    this.#folders = new Map(broken.map((each) => [each.folder, each]));
  }

  /** Their list entries, each under its folder's name, except where the last good version continues. */
  views(runs: (broken: InvalidPlugin) => boolean): readonly ModuleView[] {
    const listed = [...this.#folders.values()].filter((broken) => !runs(broken));
    return listed.map(({ name, error }) => invalidPluginView(name, error));
  }
}
