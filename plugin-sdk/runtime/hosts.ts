import { BlockList, isIP, isIPv6 } from "node:net";

/** How a manifest names an option, or a service, instead of a host. */
const ORIGIN = /^(?:config|service):/;
/** How it names the addresses that are private (RFC 1918, RFC 4193) or of one link (RFC 3927, RFC 4291). */
const LOCAL = "network:local";
const PRIVATE = new BlockList();
for (const [net, bits] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const) {
  PRIVATE.addSubnet(net, bits, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

/** The hosts a plugin may reach: those its manifest names, and the addresses they have turned out to have. */
export class Hosts {
  readonly #declared: readonly string[];
  readonly #exact: Set<string>;
  /** Of hosts that are not declared, the option or the service that gave them last. */
  readonly #origins = new Map<string, string>();
  readonly #below: readonly string[];
  readonly #isEverything: boolean;
  readonly #hasLocal: boolean;

  constructor(declared: readonly string[]) {
    this.#declared = declared;
    const isHost = (host: string) => !ORIGIN.test(host) && host !== LOCAL;
    this.#exact = new Set(declared.filter(isHost).map(canonical));
    this.#below = declared.filter((host) => host.startsWith("*.")).map((host) => host.slice(1));
    this.#isEverything = declared.includes("*");
    this.#hasLocal = declared.includes(LOCAL);
  }

  allows(host: string): boolean {
    if (this.#isEverything || (this.#hasLocal && isPrivate(host))) return true;
    const name = canonical(host);
    return this.#exact.has(name) || this.#below.some((suffix) => name.endsWith(suffix));
  }

  /** A host that may be reached has this address. */
  found(address: string): void {
    if (isIP(address) > 0) this.#exact.add(canonical(address));
  }

  /** Adds the hosts in the options that are named as `config:<option>`. */
  configured(config: unknown): void {
    for (const [option, value] of Object.entries(config ?? {}))
      this.#learn(`config:${option}`, value);
  }

  /** Adds the hosts in an answer of a service that is named as `service:<name>`. */
  answered(service: string, answer: unknown): void {
    this.#learn(`service:${service}`, answer);
  }

  /** How the manifest is to name a host: by the option or the service that the plugin has it from, if any. */
  toDeclare(host: string): string {
    return this.#origins.get(canonical(host)) ?? host;
  }

  #learn(origin: string, value: unknown): void {
    const isDeclared = this.#declared.includes(origin);
    for (const host of hostsIn(value).map(canonical)) {
      if (isDeclared) this.#exact.add(host);
      else this.#origins.set(host, origin);
    }
  }
}

/** False for names, whatever their addresses are. */
function isPrivate(host: string): boolean {
  const address = host.replace(/%.*/, "");
  const family = isIP(address);
  return family > 0 && PRIVATE.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** One spelling for each host: lower case, no dot at the end, IPv6 shortened, loopback under one name. */
function canonical(host: string): string {
  if (host.startsWith("/")) return host;
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  const short = isIPv6(name) ? new URL(`http://[${name.replace(/%.*/, "")}]`).hostname : name;
  return LOOPBACK.test(short) ? "localhost" : short;
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|(.+\.)?localhost)$/;

/** The hosts in the texts of a value: of addresses such as `mqtt://nas:1883`, or bare as `nas:1883`. */
function hostsIn(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(hostsIn);
  if (typeof value !== "string") return [];
  if (isIP(value) > 0 || value.startsWith("/")) return [value];
  const address = value.includes("://") ? value : `any://${value}`;
  return URL.canParse(address) ? [new URL(address).hostname] : [];
}
