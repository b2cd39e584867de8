import { type ApiPath, hasRoutes, type ServedPath } from "@mantel/plugin-sdk/manifest";

/** A path of the API and the plugin whose channel the host serves there. */
export interface ChannelPath {
  readonly path: string;
  readonly plugin: string;
  readonly served: ServedPath;
}

/** A path of the API and the plugin that has it. */
export interface ClaimedPath {
  readonly path: string;
  readonly plugin: string;
  readonly claim: ApiPath;
}

type Paths = Readonly<Record<string, ApiPath>>;

/** The paths of the API that plugins have, for a channel or for routes. The first plugin with a path has it. */
export class ApiPaths {
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
    return this.#list().filter((each) => each.plugin !== plugin && Object.hasOwn(paths, each.path));
  }

  release(plugin: string): void {
    if (this.#wanted.delete(plugin)) this.#changes++;
  }

  /** The paths at which channels are served. */
  channels(): readonly ChannelPath[] {
    return this.#list().flatMap(({ path, plugin, claim }) =>
      hasRoutes(claim) ? [] : { path, plugin, served: claim },
    );
  }

  /** The paths at which this channel is served. */
  of(plugin: string, channel: string): readonly ChannelPath[] {
    return this.channels().filter(
      (each) => each.plugin === plugin && each.served.channel === channel,
    );
  }

  /** The topics of events that channels with a path have. */
  topics(): readonly string[] {
    return this.channels().flatMap(({ served: { event } }) => event?.topic ?? []);
  }

  /** The plugin that has routes at a path such as `/tides/today`, and below its first part. */
  findRouted(path: string): string | undefined {
    const first = path.replace(/^(\/[^/]*).*$/s, "$1");
    return this.#list().find((each) => each.path === first && hasRoutes(each.claim))?.plugin;
  }

  #list(): readonly ClaimedPath[] {
    const byPath = new Map<string, ClaimedPath>();
    for (const [plugin, paths] of this.#wanted) {
      for (const [path, claim] of Object.entries(paths)) {
        if (!byPath.has(path)) byPath.set(path, { path, plugin, claim });
      }
    }
    return [...byPath.values()];
  }
}
