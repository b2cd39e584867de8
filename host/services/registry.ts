import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import {
  normalServiceKey,
  type ServiceDefinition,
  serviceKey,
  SHARED_NAMES,
} from "@mantel/plugin-sdk/service";
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

/** Answers all calls of a shared service. `cause` is the caller; absent for the host. */
type Merged = (input: never, cause?: Cause) => Promise<unknown>;

/** Thrown if another module already provides the name. */
export class ServiceNameTaken extends MantelError {}

/** The providers of services. Each name has one provider for each version, except shared names. */
export class ServiceRegistry {
  readonly #providers = new Map<string, Provider>();
  /** The providers of shared names, by name and id. */
  readonly #shared = new Map<string, Map<string, Provider>>();
  readonly #merging = new Map<string, Merged>();

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
    for (const each of provides) {
      const key = normalServiceKey(each);
      if (SHARED_NAMES.has(key)) this.#sharedBy(key).set(id, provider);
      else this.#providers.set(key, provider);
    }
  }

  /** Answers all calls of a shared service with `merged`, which asks its providers with `callProvider`. */
  merge(key: string, merged: Merged): void {
    this.#merging.set(key, merged);
  }

  /** The first of these names that another module holds. */
  findTaken({ id, provides }: Pick<Provider, "id" | "provides">): string | undefined {
    return provides.find(
      (name) => !SHARED_NAMES.has(normalServiceKey(name)) && (this.findProvider(name) ?? id) !== id,
    );
  }

  /** The id of the module that provides a service; of a shared one, the first. */
  findProvider(name: string): string | undefined {
    return this.#find(normalServiceKey(name))?.id;
  }

  /** The services that clients can call, in the order of their keys. */
  open(): readonly ServiceDefinition[] {
    const shared = [...this.#shared.values()].flatMap((providers) => [...providers.values()]);
    const all = [...new Set([...this.#providers.values(), ...shared])].flatMap((each) => [
      ...each.definitions(),
    ]);
    const byKey = new Map(all.map((each) => [serviceKey(each), each]));
    return [...byKey.values()]
      .filter(({ open }) => open !== undefined)
      .toSorted((a, b) => serviceKey(a).localeCompare(serviceKey(b)));
  }

  /** A service that clients can call; `undefined` for an unknown name, and for one that is only for plugins. */
  findOpen(name: string): ServiceDefinition | undefined {
    const key = normalServiceKey(name);
    const definitions = [...(this.#find(key)?.definitions() ?? [])];
    return definitions.find((each) => serviceKey(each) === key && each.open !== undefined);
  }

  release(id: string): void {
    for (const [name, provider] of this.#providers) {
      if (provider.id === id) this.#providers.delete(name);
    }
    for (const providers of this.#shared.values()) providers.delete(id);
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
  async callFor(call: ServiceCall, cause?: Cause): Promise<unknown> {
    const { key, chain } = call;
    requireNoCycle(chain, key);
    const provider = this.findProvider(key);
    try {
      return await this.#call(call, cause);
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      const sentence = `${key} of ${provider} failed; see the log of ${provider}`;
      throw new MantelError("service_unavailable", sentence, { cause: error });
    }
  }

  async #call(call: ServiceCall, cause?: Cause): Promise<unknown> {
    const merged = this.#merging.get(call.key);
    if (merged) return merged(call.input as never, cause);
    const provider = this.#find(call.key);
    if (provider) return provider.callService(call);
    throw new MantelError("service_unavailable", this.#missing(call.key), { retryAfterMs: 5_000 });
  }

  #missing(key: string): string {
    const name = nameOf(key);
    const versions = [...this.#providers.keys()].filter((each) => nameOf(each) === name).toSorted();
    const others = versions.length === 0 ? "" : `; there is ${versions.join(", ")}`;
    return `no running module provides ${key}${others}`;
  }

  /** The ids of the modules that provide a shared service now. */
  providersOf(key: string): readonly string[] {
    return [...(this.#shared.get(key)?.keys() ?? [])];
  }

  /** True if a module provides a shared service now. */
  isProvidedBy(id: string, key: string): boolean {
    return this.#shared.get(key)?.has(id) === true;
  }

  /**
   * Calls one provider of a shared service for the host.
   * @throws MantelError as `call`
   */
  async callProvider(id: string, key: string, input: unknown, deadlineMs: number) {
    const provider = this.#shared.get(key)?.get(id);
    if (provider) return provider.callService({ key, input, chain: [], deadlineMs });
    const sentence = `${id} does not provide ${key} now`;
    throw new MantelError("service_unavailable", sentence, { retryAfterMs: 5_000 });
  }

  #sharedBy(key: string): Map<string, Provider> {
    const providers = this.#shared.get(key) ?? new Map<string, Provider>();
    this.#shared.set(key, providers);
    return providers;
  }

  /** The provider of a service; of a shared one, the first. */
  #find(key: string): Provider | undefined {
    if (!SHARED_NAMES.has(key)) return this.#providers.get(key);
    const [first] = this.#sharedBy(key).values();
    return first;
  }
}

function nameOf(key: string): string {
  return key.split("@", 1)[0] ?? key;
}
