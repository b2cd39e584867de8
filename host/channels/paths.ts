import type { ServedPath } from "@mantel/plugin-sdk/manifest";

/** A path of the API and the plugin whose channel the host serves there. */
export interface ClaimedPath {
  readonly path: string;
  readonly plugin: string;
  readonly served: ServedPath;
}

type Paths = Readonly<Record<string, ServedPath>>;

/** The paths of the API at which plugins' channels are served. The first plugin with a path has it. */
export class ChannelPaths {
  /** By plugin, in the order of their first claims. */
  readonly #wanted = new Map<string, Paths>();
  #changes = 0;

  /** Grows with each change. */
  get changes(): number {
    return this.#changes;
  }

  /** Replaces the paths of a plugin, and returns those that other plugins have. */
  claim(plugin: string, paths: Paths = {}): readonly ClaimedPath[] {
    if (this.#wanted.get(plugin) === paths) return [];
    if (this.#wanted.has(plugin) || Object.keys(paths).length > 0) {
      this.#wanted.set(plugin, paths);
      this.#changes++;
    }
    return this.list().filter((each) => each.plugin !== plugin && Object.hasOwn(paths, each.path));
  }

  release(plugin: string): void {
    if (this.#wanted.delete(plugin)) this.#changes++;
  }

  list(): readonly ClaimedPath[] {
    const byPath = new Map<string, ClaimedPath>();
    for (const [plugin, paths] of this.#wanted) {
      for (const [path, served] of Object.entries(paths)) {
        if (!byPath.has(path)) byPath.set(path, { path, plugin, served });
      }
    }
    return [...byPath.values()];
  }

  /** The paths at which this channel is served. */
  of(plugin: string, channel: string): readonly ClaimedPath[] {
    return this.list().filter((each) => each.plugin === plugin && each.served.channel === channel);
  }

  /** The topics of events that channels with a path have. */
  topics(): readonly string[] {
    return this.list().flatMap(({ served: { event } }) => event?.topic ?? []);
  }
}
