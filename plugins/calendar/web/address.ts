import { lookup } from "node:dns/promises";
import { BlockList, isIP, isIPv6 } from "node:net";
import { MantelError, sentence } from "@mantel/plugin-sdk";

/** An address that a connection is bound to, so that a second look-up cannot lead elsewhere. */
export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Looks up where a URL leads, and refuses this machine, the local network and other ranges that are
 * not public, unless `allowPrivate`. One address of that kind among several is enough to refuse.
 * Gives at least one address; which of them answers is found out by connecting.
 *
 * @throws MantelError `invalid`
 */
export async function pinAddresses(url: URL, allowPrivate: boolean): Promise<PinnedAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(host) ? [host] : await resolve(host);
  const refused = allowPrivate ? undefined : addresses.find((each) => !isPublic(each));
  if (refused !== undefined) {
    throw new MantelError(
      "invalid",
      sentence(
        "private_address",
        "{host} is in a private network: set allowPrivate for this calendar if that is meant",
        { host: host.slice(0, 100) },
      ),
    );
  }
  return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    const told = sentence("unknown_host", "{host} cannot be found: check the address", {
      host: host.slice(0, 100),
    });
    throw new MantelError("invalid", told, { cause: error });
  }
}

/** True for an address on the public internet (IANA special-purpose registries). */
export function isPublic(address: string): boolean {
  if (!isIPv6(address)) return !notPublic.check(address, "ipv4");
  return publicIPv6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

const notPublic = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  notPublic.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 leads to the IPv4 address inside
  ["3fff::", 20],
] as const) {
  notPublic.addSubnet(network, bits, "ipv6");
}

/** Everything outside global unicast is special: loopback, link-local, mapped IPv4, NAT64 … */
const publicIPv6 = new BlockList();
publicIPv6.addSubnet("2000::", 3, "ipv6");
