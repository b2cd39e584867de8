import type { DiscoveredDevice, DiscoveredService } from "@mantel/plugin-sdk/discovery";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Asked, findServices, isServiceName } from "./mdns.ts";
import { findDevices, isSearchTarget } from "./ssdp.ts";

const DEFAULT_MS = 3_000;
const SHORTEST_MS = 100;
const LONGEST_MS = 10_000;
/** The searches of one plugin at a time. */
const MOST_OF_PLUGIN = 4;

/** The functions that search the network. */
export interface Searches {
  readonly mdns: (asked: Asked) => Promise<readonly DiscoveredService[]>;
  readonly ssdp: (asked: Asked) => Promise<readonly DiscoveredDevice[]>;
}

/** A search for a plugin. */
export interface PluginSearch {
  /** The id of the plugin. */
  readonly plugin: string;
  /** Untrusted: from another process. */
  readonly what: unknown;
  readonly forMs: unknown;
  /** Resolves when the plugin's process has ended. */
  readonly exited: Promise<unknown>;
}

/** Searches of the home's network on behalf of plugins, which have no datagrams of their own. */
export class Discovery {
  readonly #searches: Searches;
  readonly #running = new Map<string, number>();
  readonly #ended = new AbortController();

  constructor(searches: Searches = { mdns: findServices, ssdp: findDevices }) {
    this.#searches = searches;
  }

  /** Finds services by multicast DNS. @throws MantelError `invalid`, `module_busy` */
  mdns(search: PluginSearch): Promise<readonly DiscoveredService[]> {
    const what = String(search.what)
      .toLowerCase()
      .replace(/\.local\.?$/, "");
    if (!isServiceName(what)) throw wrongName(search.what, "a service such as _lamps._tcp");
    return this.#run(search, (asked) => this.#searches.mdns({ ...asked, what }));
  }

  /** Finds UPnP devices. @throws MantelError `invalid`, `module_busy` */
  ssdp(search: PluginSearch): Promise<readonly DiscoveredDevice[]> {
    const what = String(search.what);
    if (!isSearchTarget(what)) throw wrongName(search.what, "a search target such as ssdp:all");
    return this.#run(search, (asked) => this.#searches.ssdp({ ...asked, what }));
  }

  /** Ends all searches. */
  close(): void {
    this.#ended.abort();
  }

  async #run<T>(
    { plugin, forMs = DEFAULT_MS, exited }: PluginSearch,
    find: (asked: Omit<Asked, "what">) => Promise<T>,
  ): Promise<T> {
    if (typeof forMs !== "number" || !(forMs >= SHORTEST_MS && forMs <= LONGEST_MS)) {
      throw new MantelError(
        "invalid",
        `forMs is ${String(forMs)}; it must be ${SHORTEST_MS} to ${LONGEST_MS} ms`,
      );
    }
    const count = this.#running.get(plugin) ?? 0;
    if (count >= MOST_OF_PLUGIN) {
      const detail = `${plugin} already runs ${count} searches of the network; wait for one of them`;
      throw new MantelError("module_busy", detail);
    }
    this.#running.set(plugin, count + 1);
    const gone = new AbortController();
    void exited.then(() => gone.abort());
    try {
      return await find({ forMs, signal: AbortSignal.any([gone.signal, this.#ended.signal]) });
    } finally {
      const left = (this.#running.get(plugin) ?? 1) - 1;
      if (left > 0) this.#running.set(plugin, left);
      else this.#running.delete(plugin);
    }
  }
}

function wrongName(what: unknown, right: string): MantelError {
  const given = JSON.stringify(String(what).slice(0, 100));
  return new MantelError("invalid", `${given} cannot be searched for; write ${right}`);
}
