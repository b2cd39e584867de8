import type { SourceChange, Sources } from "../sources.ts";
import type { HostLink } from "./host-link.ts";
import { freeze } from "./primordials.ts";

/** The listeners of `ctx.sources`. */
export class RuntimeSources {
  readonly #listeners = new Set<(change: SourceChange) => void>();

  get isWaiting(): boolean {
    return this.#listeners.size > 0;
  }

  take(change: SourceChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Creates `ctx.sources`. */
  create(host: HostLink): Sources {
    return freeze({
      follow: async (listener) => {
        this.#listeners.add(listener);
        await host.call("followSources", {});
      },
      describe: (files) => host.call("describeSources", { files }),
    } satisfies Sources);
  }
}
