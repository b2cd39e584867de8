import { isIPv6 } from "node:net";

/** Also in the form in which IPv6 sockets show IPv4 peers. */
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/i;

export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}

/** An address without its zone; an IPv4 address in IPv6 form becomes IPv4 again. */
export function normalizeAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
}

/**
 * The network that counts as one client without a token: an IPv4 address, or the 64-bit prefix that an IPv6
 * subscriber gets (RFC 6177), because one subscriber has too many addresses to count.
 */
export function clientNetwork(address: string): string {
  const plain = normalizeAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const groups = head.split(":").filter(Boolean);
  const network = (tail === undefined ? groups : [...groups, "0", "0", "0", "0"]).slice(0, 4);
  return `${network.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/**
 * Distinguishes a limited number of clients per minute; all others share one name, so that many
 * addresses cannot use up memory.
 */
export class BoundedClientNames {
  readonly #limit: number;
  readonly #forMs: number;
  #names = new Set<string>();
  #since = performance.now();

  constructor({ limit, forMs }: { limit: number; forMs: number }) {
    this.#limit = limit;
    this.#forMs = forMs;
  }

  nameOf(client: string): string {
    if (performance.now() - this.#since > this.#forMs) {
      this.#names = new Set();
      this.#since = performance.now();
    }
    if (this.#names.size < this.#limit) this.#names.add(client);
    return this.#names.has(client) ? client : "all others";
  }
}
