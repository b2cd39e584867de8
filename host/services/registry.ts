import { MantelError } from "@mantel/plugin-sdk/errors";

/** A module that offers services, as the registry sees it. */
export interface Provider {
  readonly id: string;
  /** Names under `provides` in its manifest. */
  readonly provides: readonly string[];
  callService(name: string, input: unknown, deadlineMs: number | undefined): Promise<unknown>;
}

/** Which module provides which service. A name has one provider. */
export class ServiceRegistry {
  readonly #providers = new Map<string, Provider>();

  /**
   * Claims all names that `provider` offers, or none.
   * @throws MantelError `invalid` when another module holds one of them
   */
  claim(provider: Provider): void {
    for (const name of provider.provides) {
      const holder = this.#providers.get(name);
      if (holder && holder.id !== provider.id) {
        throw new MantelError(
          "invalid",
          `${provider.id} provides ${name}, which ${holder.id} provides already; disable one of the two`,
        );
      }
    }
    this.release(provider.id);
    for (const name of provider.provides) this.#providers.set(name, provider);
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
