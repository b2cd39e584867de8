import { BlockList, isIP } from "node:net";
import type { Hosts } from "@mantel/plugin-sdk/hosts";

type Reach = "this machine" | "one link" | "private" | "public";

/** Subnets by where they lead. */
interface Networks {
  readonly reaches: readonly (readonly [Reach, BlockList])[];
  /** The metadata services of clouds, which hand out the machine's credentials. */
  readonly metadata: BlockList;
}

let made: Networks | undefined;

/** The subnets, made when they are first used. */
function known(): Networks {
  return (made ??= {
    reaches: [
      ["this machine", networks("0.0.0.0/8", "127.0.0.0/8", "::/128", "::1/128")], // RFC 1122, RFC 4291
      ["one link", networks("169.254.0.0/16", "fe80::/10")], // RFC 3927, RFC 4291
      ["private", networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")], // RFC 1918, RFC 4193
    ],
    metadata: networks("169.254.169.254/32", "fd00:ec2::254/128"),
  });
}

/** Suffixes of names that public DNS never assigns (RFC 6762, RFC 8375, and those that routers use). */
const LOCAL_NAME =
  /^[^.]+$|\.(local|lan|home|home\.arpa|internal|intranet|private|localdomain|fritz\.box)$/;

/**
 * True if a hostname that a plugin may use may resolve to this address. The owner of a public name decides
 * on its address (DNS rebinding), so a public name gives no access to the home network:
 *
 * - a local name, such as `nas` or `nas.local`, may resolve to private addresses;
 * - a name that the user wrote into an option may resolve to private addresses too, as with a private DNS server,
 * and to this machine if it is a local name;
 * - any name may resolve to addresses that are declared themselves (`localhost`, `network:local`, `*`).
 */
export function mayResolveTo(name: string, address: string, hosts: Hosts): boolean {
  if (hosts.allows(address)) return true;
  if (isIn(known().metadata, address)) return false;
  const isOfHome = LOCAL_NAME.test(name.toLowerCase().replace(/\.$/, ""));
  switch (reachOf(address)) {
    case "public":
      return true;
    case "private":
      return isOfHome || hosts.isLearned(name);
    case "one link":
      return isOfHome;
    case "this machine":
      return isOfHome && hosts.isLearned(name);
  }
}

function reachOf(address: string): Reach {
  return known().reaches.find(([, list]) => isIn(list, address))?.[0] ?? "public";
}

/** True if an address is in the list; also recognizes IPv4 addresses in IPv6 form (`::ffff:127.0.0.1`). */
function isIn(list: BlockList, address: string): boolean {
  const bare = address.replace(/%.*/, "");
  return list.check(bare, isIP(bare) === 6 ? "ipv6" : "ipv4");
}

function networks(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
