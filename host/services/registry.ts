import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { normalServiceKey, type ServiceDefinition, serviceKey } from "@mantel/plugin-sdk/service";
import { requireNoCycle } from "./chain.ts";

/** A call of a service. */
export interface ServiceCall {
  /** The service's key, such as `acme.news.items@2`. */
  readonly key: string;
  readonly input: unknown;
  /** The services within which the call is made, outermost first. */
  readonly chain: readonly string[];
  /** Absent means the time limit in the definition. */
  readonly deadlineMs?: number | undefined;
}

/** A module that provides services, as the registry uses it. */
export interface Provider {
  readonly id: string;
  /** Names under `provides` in its manifest. */
  readonly provides: readonly string[];
  /** The definitions of its running code, or of the code that ran last. */
  readonly definitions: () => Iterable<ServiceDefinition>;
  callService(call: ServiceCall): Promise<unknown>;
}

/** Thrown if another module already provides the name. */
export class ServiceNameTaken extends MantelError {}

/** The providers of services. Each name has one provider for each version. */
export class ServiceRegistry {
  readonly #providers = new Map<string, Provider>();

  /**
   * Claims all names of `provider`, or none.
   * @throws ServiceNameTaken if another module holds one of them
   */
  claim(provider: Provider): void {
    const { id, provides } = provider;
    const name = this.findTaken(provider);
    if (name !== undefined) {
      const sentence = `${id} provides ${name}, which ${this.findProvider(name)} already provides`;
      throw new ServiceNameTaken("invalid", `${sentence}; disable one of the two`);
    }
    this.release(id);
    for (const each of provides) this.#providers.set(normalServiceKey(each), provider);
  }

  /** The first of these names that another module holds. */
  findTaken({ id, provides }: Pick<Provider, "id" | "provides">): string | undefined {
    return provides.find((name) => (this.findProvider(name) ?? id) !== id);
  }

  /** The id of the module that provides a service. */
  findProvider(name: string): string | undefined {
    return this.#providers.get(normalServiceKey(name))?.id;
  }

  /** The services that clients can call, in the order of their keys. */
  open(): readonly ServiceDefinition[] {
    const all = [...new Set(this.#providers.values())].flatMap((each) => [...each.definitions()]);
    return all
      .filter(({ open }) => open !== undefined)
      .toSorted((a, b) => serviceKey(a).localeCompare(serviceKey(b)));
  }

  /** A service that clients can call; `undefined` if there is none of this name, or it is only for plugins. */
  findOpen(name: string): ServiceDefinition | undefined {
    const key = normalServiceKey(name);
    const definitions = [...(this.#providers.get(key)?.definitions() ?? [])];
    return definitions.find((each) => serviceKey(each) === key && each.open !== undefined);
  }

  release(id: string): void {
    for (const [name, provider] of this.#providers) {
      if (provider.id === id) this.#providers.delete(name);
    }
  }

  /**
   * Calls a service for the host. Without a deadline, that of the definition or of the provider applies.
   * @throws MantelError `service_unavailable` if nothing provides it, or the errors of the service
   */
  async call(name: string, input: unknown, deadlineMs?: number): Promise<unknown> {
    return this.#call({ key: name, input, chain: [], deadlineMs });
  }

  /**
   * Calls a service for a plugin or a client. The text of an unexpected error is for the provider's author, and is
   * only in its log.
   * @throws ServiceError with a code of the definition
   * @throws MantelError as `call`; `service_cycle`
   */
  async callFor(call: ServiceCall): Promise<unknown> {
    const { key, chain } = call;
    requireNoCycle(chain, key);
    const provider = this.findProvider(key);
    try {
      return await this.#call(call);
    } catch (cause) {
      if (!(cause instanceof RemoteFault)) throw cause;
      const sentence = `${key} of ${provider} failed; see the log of ${provider}`;
      throw new MantelError("service_unavailable", sentence, { cause });
    }
  }

  async #call(call: ServiceCall): Promise<unknown> {
    const provider = this.#providers.get(call.key);
    if (provider) return provider.callService(call);
    throw new MantelError("service_unavailable", this.#missing(call.key), { retryAfterMs: 5_000 });
  }

  #missing(key: string): string {
    const name = nameOf(key);
    const versions = [...this.#providers.keys()].filter((each) => nameOf(each) === name).toSorted();
    const others = versions.length === 0 ? "" : `; there is ${versions.join(", ")}`;
    return `no running module provides ${key}${others}`;
  }
}

function nameOf(key: string): string {
  return key.split("@", 1)[0] ?? key;
}
