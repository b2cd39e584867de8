import { BlockList, isIP, isIPv6 } from "node:net";
import { normalizeAddress } from "./network.ts";
import type { Guard } from "./request-guards.ts";

const MAX_HOPS = 20;

/**
 * Sets the client address of a request from a configured proxy's `X-Forwarded-For`: the last
 * address in it that is not a proxy itself. Stores the host of `X-Forwarded-Host`, which is checked like
 * `Host`. Ignores other senders, and all other headers of proxies.
 *
 * @param configured returns addresses and networks such as `10.0.0.0/8`
 */
export function forwarded(configured: () => readonly string[]): Guard {
  const proxies = new Proxies(configured);
  return (ctx) => {
    ctx.request.ip = ctx.req.socket.remoteAddress ?? ""; // otherwise Koa reads a header for it each time
    if (configured().length > 0 && proxies.includes(ctx.ip)) {
      const hops = ctx.get("X-Forwarded-For").split(",").slice(-MAX_HOPS);
      ctx.request.ip = proxies.clientOf(hops) ?? ctx.ip;
      const host = ctx.get("X-Forwarded-Host");
      if (host !== "") ctx.state.forwardedHost = host;
    }
  };
}

/** The addresses of proxies in the current config. */
export class Proxies {
  readonly #configured: () => readonly string[];
  #applied: readonly string[] = [];
  #addresses = new BlockList();

  constructor(configured: () => readonly string[]) {
    this.#configured = configured;
  }

  includes(address: string): boolean {
    const configured = this.#configured();
    if (configured.length === 0) return false;
    if (configured !== this.#applied) {
      this.#applied = configured;
      this.#addresses = blockListOf(configured);
    }
    const plain = normalizeAddress(address);
    return isIP(plain) !== 0 && this.#addresses.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
  }

  /**
   * The client in a list of hops. Each proxy adds its client on the right; entries left of the client cannot be
   * trusted.
   */
  clientOf(hops: readonly string[]): string | undefined {
    const addresses = hops.map((hop) => normalizeAddress(hop.trim()));
    const client = addresses.findLast((address) => !this.includes(address));
    return client !== undefined && isIP(client) !== 0 ? client : undefined;
  }
}

function blockListOf(configured: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of configured) {
    const [address = "", bits] = each.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (isIP(address) === 0) continue; // Node is stricter than the schema, which browsers use too.
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
