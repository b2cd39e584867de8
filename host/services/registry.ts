import { MantelError } from "@mantel/plugin-sdk/errors";

/** A module that provides services, as the registry uses it. */
export interface Provider {
  readonly id: string;
  /** Names under `provides` in its manifest. */
  readonly provides: readonly string[];
  callService(name: string, input: unknown, deadlineMs: number | undefined): Promise<unknown>;
}

/** Thrown if another module already provides the name. */
export class ServiceNameTaken extends MantelError {}

/** The providers of services. Each name has one provider. */
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
    for (const each of provides) this.#providers.set(each, provider);
  }

  /** The first of these names that another module holds. */
  findTaken({ id, provides }: Pick<Provider, "id" | "provides">): string | undefined {
    return provides.find((name) => (this.findProvider(name) ?? id) !== id);
  }

  /** The id of the module that provides a service. */
  findProvider(name: string): string | undefined {
    return this.#providers.get(name)?.id;
  }

  release(id: string): void {
    for (const [name, provider] of this.#providers) {
      if (provider.id === id) this.#providers.delete(name);
    }
  }

  /**
   * Calls a service. Without a deadline, the one in the provider's manifest applies.
   * @throws MantelError `service_unavailable` if nothing provides it, or the errors of the service
   */
  async call(name: string, input: unknown, deadlineMs?: number): Promise<unknown> {
    const provider = this.#providers.get(name);
    if (!provider) {
      throw new MantelError("service_unavailable", `no running module provides ${name}`, {
        retryAfterMs: 5_000,
      });
    }
    return provider.callService(name, input, deadlineMs);
  }
}
