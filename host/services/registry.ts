import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { normalServiceKey, type ServiceDefinition, serviceKey } from "@mantel/plugin-sdk/service";
import { requireNoCycle } from "./chain.ts";
import { SHARED_OF_SDK } from "./definitions.ts";
import { mergedAnswer } from "./merged-answer.ts";

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
  /** Those of them that its manifest lists under `shares`; absent means none. */
  readonly shares?: readonly string[];
  /** The definitions of its running code, or of the code that ran last. */
  readonly definitions: () => Iterable<ServiceDefinition>;
  callService(call: ServiceCall): Promise<unknown>;
}

/** Answers all calls of a shared service. `cause` is the caller; absent for the host. */
type Merged = (input: never, cause?: Cause) => Promise<unknown>;

/** Thrown if another module already provides the name. */
export class ServiceNameTaken extends MantelError {}

/** The providers of services. Each name has one provider for each version, except shared services. */
export class ServiceRegistry {
  readonly #providers = new Map<string, Provider>();
  /** The providers of shared services and publications, by key and id. */
  readonly #shared = new Map<string, Map<string, Provider>>();
  readonly #merging = new Map<string, Merged>();

  /**
   * Claims all names of `provider`, or none.
   * @throws ServiceNameTaken if another module holds one of them
   */
  claim(provider: Provider): void {
    const { id, provides, shares } = provider;
    const name = this.findTaken(provider);
    if (name !== undefined) {
      const sentence = `${id} provides ${name}, which ${this.findProvider(name)} already provides`;
      throw new ServiceNameTaken("invalid", `${sentence}; disable one of the two`);
    }
    this.release(id);
    for (const each of provides) {
      const key = normalServiceKey(each);
      if (isShared(key, shares)) this.#sharedBy(key).set(id, provider);
      else this.#providers.set(key, provider);
    }
  }

  /** Answers all calls of a shared service with `merged`, which asks its providers with `callProvider`. */
  merge(key: string, merged: Merged): void {
    this.#merging.set(key, merged);
  }

  /** The first of these names that another module holds. */
  findTaken({
    id,
    provides,
    shares,
  }: Pick<Provider, "id" | "provides" | "shares">): string | undefined {
    return provides.find((name) => {
      const key = normalServiceKey(name);
      const owner = this.#providers.get(key);
      const others = isShared(key, shares) ? [] : this.providersOf(key);
      return [...(owner ? [owner.id] : []), ...others].some((other) => other !== id);
    });
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
    return this.#call(call, { cause, toError: (error, provider) => errorOf(error, provider, key) });
  }

  async #call(
    call: ServiceCall,
    { cause, toError = (error) => error }: CallOptions = {},
  ): Promise<unknown> {
    const merged = this.#merging.get(call.key);
    if (merged) return merged(call.input as never, cause);
    const answers = this.#allOf(call.key).map((provider) =>
      provider.callService(call).catch((error: unknown) => {
        throw toError(error, provider.id);
      }),
    );
    const [first] = answers;
    if (first) return answers.length === 1 ? first : mergedAnswer(answers);
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
    return this.#allOf(key)[0];
  }

  #allOf(key: string): readonly Provider[] {
    const owner = this.#providers.get(key);
    return owner ? [owner] : [...(this.#shared.get(key)?.values() ?? [])];
  }
}

interface CallOptions {
  readonly cause?: Cause | undefined;
  /** The error for the caller, from that of a provider. */
  readonly toError?: (error: unknown, provider: string) => unknown;
}

function errorOf(error: unknown, provider: string, key: string): unknown {
  if (!(error instanceof RemoteFault)) return error;
  const sentence = `${key} of ${provider} failed; see the log of ${provider}`;
  return new MantelError("service_unavailable", sentence, { cause: error });
}

const isShared = (key: string, shares: readonly string[] = []): boolean =>
  SHARED_OF_SDK.has(key) || shares.some((each) => normalServiceKey(each) === key);

function nameOf(key: string): string {
  return key.split("@", 1)[0] ?? key;
}
