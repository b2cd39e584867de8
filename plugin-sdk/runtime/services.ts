import { AsyncLocalStorage } from "node:async_hooks";
import type { PluginContext } from "../context.ts";
import { MantelError, ServiceError } from "../errors.ts";
import type { ServiceRequest } from "../protocol.ts";
import { RemoteFault } from "../rpc/peer.ts";
import {
  normalServiceKey,
  type ProvidedService,
  type ServiceDefinition,
  serviceKey,
} from "../service.ts";
import * as ownServices from "../services/index.ts";
import type { HostLink } from "./host-link.ts";

/** The services in which the running code was called, outermost first. */
const chains = new AsyncLocalStorage<readonly string[]>();

/** The services of one generation, as its `start` returned them. */
export class RuntimeServices {
  readonly #services = new Map<string, ProvidedService>();

  /**
   * @param given `services` of what `start` returned
   * @throws TypeError for the form of earlier versions, a wrong list, or two services with one name and version
   */
  constructor(given: unknown = []) {
    if (!Array.isArray(given)) throw new TypeError(listExpected(given));
    for (const each of given as readonly Partial<ProvidedService>[]) {
      const { definition, handler } = each ?? {};
      if (typeof definition?.name !== "string" || typeof handler !== "function") {
        throw new TypeError(
          '"services" has an entry that is not a result of provide(definition, handler)',
        );
      }
      const key = serviceKey(definition);
      if (this.#services.has(key)) throw new TypeError(`"services" has ${key} twice`);
      this.#services.set(key, { definition, handler });
    }
  }

  get definitions(): ServiceDefinition[] {
    return [...this.#services.values()].map(({ definition }) => definition);
  }

  /** True for a service whose calls may be repeated. */
  isRepeatable(key: string): boolean {
    return this.#services.get(key)?.definition.repeatable === true;
  }

  /** Calls the handler. @throws MantelError `service_unavailable` without one, or the handler's error */
  async call({ name, input, chain = [] }: ServiceRequest): Promise<unknown> {
    const service = this.#services.get(name);
    if (!service) {
      throw new MantelError("service_unavailable", `the plugin does not provide ${name}`);
    }
    return chains.run([...chain, name], async () => service.handler(input as never));
  }
}

/** Creates `ctx.call`, which calls only services that the manifest lists. */
export function createCall(
  id: string,
  uses: readonly string[],
  host: HostLink,
): PluginContext<unknown, unknown>["call"] {
  const used = new Set(uses.map(normalServiceKey));
  return async (service, input) => {
    requireDefinition(service);
    const name = serviceKey(service);
    if (!used.has(name)) throw undeclared(id, name, "uses");
    const chain = chains.getStore();
    const request = { name, input, ...(chain ? { chain } : {}) };
    try {
      return (await host.call("callService", request)) as never;
    } catch (error) {
      if (!(error instanceof RemoteFault) || !error.serviceError) throw error;
      const told = new ServiceError(service, error.serviceError.code, error.serviceError.message);
      if (error.stack !== undefined) told.stack = error.stack;
      throw told;
    }
  };
}

/** The error for using something that the manifest does not declare under `key`. */
export function undeclared(id: string, name: string, key: string): MantelError {
  return new MantelError(
    "invalid",
    `${id} uses ${name}, which its manifest does not declare; add "${name}" to "mantel.${key}" in its package.json`,
  );
}

/** Refuses the form of earlier versions, which named a service by its text. */
function requireDefinition(service: unknown): void {
  if (typeof (service as Partial<ServiceDefinition> | undefined)?.name === "string") return;
  if (typeof service !== "string") {
    throw new TypeError("the first argument of ctx.call must be a result of defineService");
  }
  const own = ownNameOf(service);
  const from = own ? `import { ${own} } from "@mantel/plugin-sdk"` : "define it with defineService";
  throw new TypeError(
    `ctx.call("${service}", …) is now ctx.call(${own ?? "definition"}, …): ${from}`,
  );
}

function listExpected(given: unknown): string {
  const [first = "acme.news.items"] = typeof given === "object" && given ? Object.keys(given) : [];
  const own = ownNameOf(first) ?? "definition";
  return `"services: { "${first}": handler }" is now "services: [provide(${own}, handler)]"`;
}

/** The SDK's export that defines a service. */
function ownNameOf(service: string): string | undefined {
  const all = Object.entries(ownServices) as [string, Partial<ServiceDefinition>][];
  return all.find(([, { name }]) => name === service)?.[0];
}
