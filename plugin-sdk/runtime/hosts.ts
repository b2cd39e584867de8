import { isIP, isIPv6 } from "node:net";

/** How a manifest names an option, or a service, instead of a host. */
const CONFIG = /^config:(\w+)$/;
const SERVICE = /^service:/;

/** The hosts a plugin may reach: those its manifest names, and the addresses they have turned out to have. */
export class Hosts {
  readonly #declared: readonly string[];
  readonly #exact: Set<string>;
  readonly #below: readonly string[];
  readonly #isEverything: boolean;

  constructor(declared: readonly string[]) {
    this.#declared = declared;
    const isHost = (host: string) => !CONFIG.test(host) && !SERVICE.test(host);
    this.#exact = new Set(declared.filter(isHost).map(canonical));
    this.#below = declared.filter((host) => host.startsWith("*.")).map((host) => host.slice(1));
    this.#isEverything = declared.includes("*");
  }

  allows(host: string): boolean {
    if (this.#isEverything) return true;
    const name = canonical(host);
    return this.#exact.has(name) || this.#below.some((suffix) => name.endsWith(suffix));
  }

  /** A host that may be reached has this address. */
  found(address: string): void {
    if (isIP(address) > 0) this.#exact.add(canonical(address));
  }

  /** Adds the hosts in the options that are named as `config:<option>`. */
  configured(config: unknown): void {
    for (const host of this.#declared) {
      const [, option] = CONFIG.exec(host) ?? [];
      if (option === undefined) continue;
      for (const named of hostsIn((config as Record<string, unknown>)[option])) {
        this.#exact.add(canonical(named));
      }
    }
  }

  /** Adds the hosts in an answer of a service that is named as `service:<name>`. */
  answered(service: string, answer: unknown): void {
    if (!this.#declared.includes(`service:${service}`)) return;
    for (const named of hostsIn(answer)) this.#exact.add(canonical(named));
  }
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
