import { isIPv4 } from "node:net";
import type { DiscoveredService } from "@mantel/plugin-sdk/discovery";
import { type Find, type Manifest, translationsOf } from "@mantel/plugin-sdk/manifest";

/** Answers stay this long, so that many open pages cause one search. */
const KEEP_MS = 10_000;
const MOST = 20;

/** A plugin that is not set up, and the services by which it says that it can connect. */
export interface Unconnected {
  readonly id: string;
  readonly finds: readonly Find[];
  readonly translations?: Manifest["translations"];
}

/** Something in the network that a plugin can connect to. */
export interface Connectable {
  /** The id of the module. */
  readonly module: string;
  readonly name: string;
  /** The name by language, as far as the manifest has it. */
  readonly titles?: Readonly<Record<string, string>>;
  readonly icon: string | null;
  /** An IPv4 address, with the port if it is not known to the plugin. */
  readonly address: string;
  /** Options that connect it, or a first part of them. */
  readonly options: Readonly<Record<string, string>>;
}

interface ConnectablesDependencies {
  readonly unconnected: () => readonly Unconnected[];
  /** Searches by multicast DNS. */
  readonly search: (module: string, service: string) => Promise<readonly DiscoveredService[]>;
  readonly now?: () => number;
}

/** Searches the network for what plugins that are not set up can connect to. */
export class Connectables {
  readonly #parts: ConnectablesDependencies;
  #last: { readonly at: number; readonly found: Promise<readonly Connectable[]> } | undefined;

  constructor(parts: ConnectablesDependencies) {
    this.#parts = parts;
  }

  /** Takes some seconds. A search that fails finds nothing. */
  find(): Promise<readonly Connectable[]> {
    const { now = () => performance.now() } = this.#parts;
    if (!this.#last || now() - this.#last.at > KEEP_MS) {
      this.#last = { at: now(), found: this.#search() };
    }
    return this.#last.found;
  }

  async #search(): Promise<readonly Connectable[]> {
    const { unconnected, search } = this.#parts;
    const searches = unconnected().flatMap(({ id, finds, translations }) =>
      finds.map(async (find) => {
        const services = await search(id, find.mdns).catch(() => []);
        const titles = translationsOf(find.name, translations);
        return services
          .flatMap((service) => connectable(id, find, service))
          .map((each) => (titles ? { ...each, titles } : each));
      }),
    );
    const found = (await Promise.all(searches)).flat();
    const byAddress = new Map(found.map((each) => [`${each.module} ${each.address}`, each]));
    return [...byAddress.values()].slice(0, MOST);
  }
}

/** Texts from the network are not shown: only the address, and the plugin's own words. */
function connectable(module: string, find: Find, service: DiscoveredService): Connectable[] {
  const address = service.addresses.find((each) => isIPv4(each));
  if (address === undefined) return [];
  const fill = (text: string): string =>
    text.replaceAll("{address}", address).replaceAll("{port}", `${service.port}`);
  const options = Object.fromEntries(
    Object.entries(find.options ?? {}).map(([key, text]) => [key, fill(text)]),
  );
  return [{ module, name: find.name, icon: find.icon ?? null, address, options }];
}
