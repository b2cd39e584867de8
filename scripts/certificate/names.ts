import { BlockList, isIP, isIPv6 } from "node:net";
import { encode, sequence, tagged } from "./der.ts";

/** Tags of general names (RFC 5280, 4.2.1.6). */
const DNS_NAME = 0x82;
export const IP_ADDRESS = 0x87;

/** Domains of home networks (RFC 6762, RFC 8375), and those that routers commonly use. */
const LOCAL_NAMES = ["localhost", "local", "home.arpa", "lan", "home", "internal"];

/** Loopback, private and link-local networks (RFC 1918, RFC 3927, RFC 4193). */
const NETWORKS = [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const;

const privateAddresses = new BlockList();
for (const [address, length] of NETWORKS) {
  privateAddresses.addSubnet(address, length, isIPv6(address) ? "ipv6" : "ipv4");
}

/** True for an address of a home network or of the machine itself. */
export function isPrivate(address: string): boolean {
  return privateAddresses.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** Name constraints that permit only private networks, local names and `names` (RFC 5280, 4.2.1.10). */
export function nameConstraints(names: readonly string[]): Buffer {
  const dnsNames = new Set([...LOCAL_NAMES, ...names.filter((name) => isIP(name) === 0)]);
  const permitted = [...[...dnsNames].map(dnsName), ...NETWORKS.map(network)];
  return sequence(tagged(0, ...permitted.map((name) => sequence(name))));
}

/** True if the name constraints of a certificate permit a name or one of its parent domains. */
export function isPermitted(name: string, certificate: Buffer): boolean {
  if (isIP(name) !== 0) return isPrivate(name);
  const labels = name.split(".");
  return labels.some((_, at) => certificate.includes(dnsName(labels.slice(at).join("."))));
}

export function dnsName(name: string): Buffer {
  return encode(DNS_NAME, Buffer.from(name, "latin1"));
}

/** The 4 or 16 bytes of an address. */
export function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  // A URL normalizes the address: no zone, no embedded IPv4, at most one run of zeros.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail] = plain.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = 8 - head.length - (tail?.length ?? 0);
  const groups = [...head, ...Array.from({ length: zeros }, () => "0"), ...(tail ?? [])];
  return Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
}

function network([address, length]: (typeof NETWORKS)[number]): Buffer {
  const start = addressBytes(address);
  return encode(IP_ADDRESS, start, Buffer.from(start.map((_, at) => maskByte(length - at * 8))));
}

/** A byte of a network mask, given the number of its remaining bits. */
function maskByte(bitsLeft: number): number {
  return (0xff << (8 - Math.min(8, Math.max(0, bitsLeft)))) & 0xff;
}
