import { MantelError } from "@mantel/plugin-sdk/errors";

/** A module that offers services, as the registry sees it. */
export interface Provider {
  readonly id: string;
  /** Names under `provides` in its manifest. */
  readonly provides: readonly string[];
  callService(name: string, input: unknown, deadlineMs: number | undefined): Promise<unknown>;
}

/** A name that a module is to provide is another's. */
export class NameTaken extends MantelError {}

/** Which module provides which service. A name has one provider. */
export class ServiceRegistry {
  readonly #providers = new Map<string, Provider>();

  /**
   * Claims all names that `provider` offers, or none.
   * @throws NameTaken when another module holds one of them
   */
  claim(provider: Provider): void {
    const { id, provides } = provider;
    const name = this.findTaken(provider);
    if (name !== undefined) {
      const sentence = `${id} provides ${name}, which ${this.findProvider(name)} provides already`;
      throw new NameTaken("invalid", `${sentence}; disable one of the two`);
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
   * Calls a service. Without a deadline the one of the provider's manifest holds.
   * @throws MantelError `service_unavailable` when nothing provides it, or what the service throws
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
