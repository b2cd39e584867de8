import {
  begins,
  create,
  ends,
  hostOf,
  inLowerCase,
  isIP,
  isIPv6,
  keys,
  matches,
  partOf,
  placeOf,
  values,
  within,
} from "./runtime/primordials.ts";

/** Limit of remembered hosts. When it is reached, the oldest is forgotten, so that memory stays bounded for years. */
const MAX_HOSTS = 4_096;

/** Manifest entries that name an option or a service instead of a host. */
const ORIGIN = /^(?:config|service):/;
/**
 * The manifest entry for private (RFC 1918, RFC 4193) and link-local (RFC 3927, RFC 4291) addresses, and for the
 * multicast (RFC 5771, RFC 2365, RFC 4291) and broadcast addresses that do not leave the home's network.
 */
const LOCAL = "network:local";
const LOCAL_SUBNETS = [
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["224.0.0.0", 24, "ipv4"],
  ["239.0.0.0", 8, "ipv4"],
  ["255.255.255.255", 32, "ipv4"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["ff02::", 16, "ipv6"],
] as const;

/**
 * The hosts that a plugin may reach: the hosts in its manifest and the addresses to which they resolve. The class
 * also runs inside the plugin's process, so it calls only functions that the plugin cannot replace.
 */
export class Hosts {
  readonly #declared: Texts = new Texts();
  readonly #exact = new Texts();
  /** Hosts from declared options and services. */
  readonly #learned = new Texts();
  /** Addresses to which allowed names were resolved. */
  readonly #resolved = new Texts();
  /** The option or service from which an undeclared host came last. */
  readonly #origins = new Texts();
  readonly #suffixes: readonly string[];
  readonly #allowsAll: boolean;
  /** True for an address of the home's network, if the manifest allows those. */
  readonly #isLocal: ((address: string, family: "ipv4" | "ipv6") => boolean) | undefined;

  constructor(declared: readonly string[]) {
    for (const host of declared) {
      this.#declared.set(host);
      if (!ORIGIN.test(host) && host !== LOCAL) this.#exact.set(canonical(host));
    }
    this.#suffixes = declared.filter((host) => host.startsWith("*.")).map((host) => host.slice(1));
    this.#allowsAll = declared.includes("*");
    if (declared.includes(LOCAL)) this.#isLocal = within(LOCAL_SUBNETS);
  }

  allows(host: string): boolean {
    if (this.#allowsAll || this.#allowsLocally(host)) return true;
    const name = canonical(host);
    return (
      this.#exact.has(name) ||
      this.#learned.has(name) ||
      this.#hasAllowedSuffix(name) ||
      this.#resolved.has(normalize(host))
    );
  }

  /** True if the host came from a declared option or service. */
  isLearned(host: string): boolean {
    return this.#learned.has(canonical(host));
  }

  /** The option or service that a declared host came from, such as `config:url`. */
  originOf(host: string): string | undefined {
    return this.#learned.get(canonical(host));
  }

  /** True if the manifest declares this origin of hosts, such as `service:mqtt.broker`. */
  declares(origin: string): boolean {
    return this.#declared.has(origin);
  }

  /** Allows an address to which an allowed host was resolved. */
  allowAddress(address: string): void {
    if (isIP(address) > 0) this.#resolved.set(normalize(address));
  }

  /** Allows the hosts in the options that the manifest declares as `config:<option>`. */
  learnFromConfig(config: unknown): void {
    const options = (config ?? {}) as Readonly<Record<string, unknown>>;
    const names = keys(options);
    for (let at = 0; at < names.length; at++) {
      const option = names[at] ?? "";
      this.#learn(`config:${option}`, options[option]);
    }
  }

  /** Allows the hosts in a service's answer if the manifest declares `service:<name>`. */
  learnFromService(service: string, answer: unknown): void {
    this.#learn(`service:${service}`, answer);
  }

  /** The manifest entry that would allow a host: its option or service if it came from one, else the host itself. */
  manifestEntryFor(host: string): string {
    return this.#origins.get(canonical(host)) ?? host;
  }

  /** True for an allowed address of the home's own network; false for every name, even if it resolves to one. */
  #allowsLocally(host: string): boolean {
    const address = withoutZone(host);
    const family = isIP(address);
    return family > 0 && this.#isLocal?.(address, family === 6 ? "ipv6" : "ipv4") === true;
  }

  #hasAllowedSuffix(name: string): boolean {
    for (let at = 0; at < this.#suffixes.length; at++) {
      if (ends(name, this.#suffixes[at] ?? name)) return true;
    }
    return false;
  }

  #learn(origin: string, value: unknown): void {
    const target = this.declares(origin) ? this.#learned : this.#origins;
    forEachHost(value, (host) => target.set(canonical(host), origin));
  }
}

/** A bounded map of texts that forgets the oldest entry. Unlike a Map, it has no methods that a plugin can replace. */
class Texts {
  readonly #all = create(null) as Record<string, string>;
  #count = 0;

  has(key: string): boolean {
    return key in this.#all;
  }

  get(key: string): string | undefined {
    return this.#all[key];
  }

  set(key: string, value = ""): void {
    this.#forget(key); // it becomes the newest
    this.#all[key] = value;
    this.#count++;
    if (this.#count <= MAX_HOSTS) return;
    for (const oldest in this.#all) return this.#forget(oldest);
  }

  #forget(key: string): void {
    if (!(key in this.#all)) return;
    delete this.#all[key];
    this.#count--;
  }
}

/** Normalizes a host like `normalize`; every loopback name and address becomes `localhost`. */
function canonical(host: string): string {
  const name = normalize(host);
  return matches(LOOPBACK, name) ? "localhost" : name;
}

/** Normalizes a host: lower case, no trailing dot, IPv6 compressed and without its zone. Paths stay unchanged. */
function normalize(host: string): string {
  if (begins(host, "/")) return host;
  let name = inLowerCase(host);
  if (begins(name, "[") && ends(name, "]")) name = partOf(name, 1, -1);
  if (ends(name, ".")) name = partOf(name, 0, -1);
  // Without the first condition each process compiles Node's pattern of IPv6 addresses, which takes 7 to 14 ms.
  const isVersion6 = placeOf(name, ":") !== -1 && isIPv6(name);
  return isVersion6 ? (hostOf(`http://[${withoutZone(name)}]`) ?? name) : name;
}

function withoutZone(address: string): string {
  const zone = placeOf(address, "%");
  return zone === -1 ? address : partOf(address, 0, zone);
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|(.+\.)?localhost)$/;

/** Calls `take` with each host in a value's texts: in URLs such as `mqtt://nas:1883` and in plain `nas:1883`. */
function forEachHost(value: unknown, take: (host: string) => void): void {
  if (typeof value === "object" && value !== null) {
    const parts = values(value) as unknown[];
    for (let at = 0; at < parts.length; at++) forEachHost(parts[at], take);
    return;
  }
  if (typeof value !== "string") return;
  if (placeOf(value, " ") !== -1 && placeOf(value, "://") === -1) return; // a sentence
  if (isIP(value) > 0 || begins(value, "/")) return take(value);
  const host = hostOf(placeOf(value, "://") === -1 ? `any://${value}` : value);
  if (host !== undefined) take(host);
}
