import { MantelError } from "@mantel/plugin-sdk/errors";
import { SERVICE_LIMITS } from "@mantel/plugin-sdk/service";

const LONGEST_KEY = SERVICE_LIMITS.nameLength + 5;

/**
 * The chain of calls within which a plugin makes a call, from its process. A plugin that reports a wrong one gets
 * wrong messages; deadlines and queues still end a circle.
 */
export function parseChain(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  const keys = given.filter((key) => typeof key === "string" && key.length <= LONGEST_KEY);
  return (keys as string[]).slice(-SERVICE_LIMITS.chain);
}

/** @throws MantelError `service_cycle` if a call of `key` would close a circle, or the chain is too long */
export function requireNoCycle(chain: readonly string[], key: string): void {
  const path = [...chain, key].join(" → ");
  if (chain.includes(key)) {
    throw new MantelError("service_cycle", `service cycle: ${path}; call one of them less`);
  }
  if (chain.length < SERVICE_LIMITS.chain) return;
  const sentence = `more than ${SERVICE_LIMITS.chain} services call each other in a row: ${path}`;
  throw new MantelError("service_cycle", sentence);
}
