import dns from "node:dns";
import { isIP } from "node:net";
import type { Address, LookUpAnswer, LookUpRequest, RecordType } from "../protocol.ts";
import { apply } from "./primordials.ts";
import { errorOf, type NetworkLink, OF_HOST, type Refuse } from "./proxied-connections.ts";
import { replace } from "./replace.ts";

const LOOK_UP_MS = 60_000;

type Callback = (error: unknown, ...results: unknown[]) => void;
/** The results of a look-up for a callback. A promise resolves with the first one, or with `asOne`. */
type Ask = () => Promise<unknown[]>;

const TYPES: Readonly<Record<string, RecordType>> = {
  resolve4: "A",
  resolve6: "AAAA",
  resolveCaa: "CAA",
  resolveCname: "CNAME",
  resolveMx: "MX",
  resolveNaptr: "NAPTR",
  resolveNs: "NS",
  resolvePtr: "PTR",
  resolveSoa: "SOA",
  resolveSrv: "SRV",
  resolveTxt: "TXT",
};
const NOT_PROXIED = ["reverse", "lookupService", "resolveAny"];

interface Dependencies {
  readonly link: NetworkLink;
  readonly refuse: Refuse;
  /** Creates the error for a look-up that the host does not support. */
  readonly unsupported: (what: string) => Error;
}

/** Routes each look-up of this process through the host. */
export function proxyLookups(parts: Dependencies): void {
  const owners = [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype];
  for (const owner of owners as unknown as Record<string, unknown>[]) {
    for (const [name, type] of Object.entries(TYPES)) {
      if (name in owner) replaceResolve(owner, name, () => type, parts);
    }
    replaceResolve(owner, "resolve", ([, type]) => (typeof type === "string" ? type : "A"), parts);
    for (const name of NOT_PROXIED) if (name in owner) close(owner, name, parts);
  }
  for (const owner of [dns, dns.promises]) replaceLookup(owner, parts);
}

function replaceLookup(owner: { lookup: unknown }, { link, refuse }: Dependencies): void {
  replace(
    owner,
    "lookup",
    (lookup) =>
      function (this: unknown, ...args) {
        const [host, given] = args;
        // Node handles IP addresses and invalid names without a look-up.
        if (typeof host !== "string" || host === "" || isIP(host) > 0)
          return apply(lookup, this, args);
        const options: dns.LookupOptions = typeof given === "object" && given !== null ? given : {};
        const { family = typeof given === "number" ? given : 0, all, order } = options;
        const ask = async (): Promise<unknown[]> => {
          const found = sorted(await addressesOf(link, refuse, host, familyOf(family)), order);
          if (all) return [found];
          const [{ address, family: of } = { address: "", family: 4 }] = found;
          return [address, of];
        };
        const asOne = ([first, of]: unknown[]) => (all ? first : { address: first, family: of });
        return settle(ask, args.at(-1), asOne);
      },
  );
  Object.defineProperty(owner.lookup, OF_HOST, { value: true });
}

async function addressesOf(
  link: NetworkLink,
  refuse: Refuse,
  host: string,
  family: 0 | 4 | 6,
): Promise<Address[]> {
  // Needs no network; a server does this with its own address.
  if (host === "localhost") return [family === 6 ? LOOPBACK_6 : LOOPBACK_4];
  return (await foundBy(link, refuse, { host, family })) as Address[];
}

const LOOPBACK_4: Address = { address: "127.0.0.1", family: 4 };
const LOOPBACK_6: Address = { address: "::1", family: 6 };

function replaceResolve(
  owner: Record<string, unknown>,
  name: string,
  typeOf: (args: readonly unknown[]) => string,
  { link, refuse, unsupported }: Dependencies,
): void {
  replace(
    owner,
    name,
    (resolve) =>
      function (this: unknown, ...args) {
        const [host, options] = args;
        if (typeof host !== "string") return apply(resolve, this, args); // Node throws the right error
        const type = typeOf(args);
        const ttl = (options as { ttl?: unknown } | null | undefined)?.ttl === true;
        const ask = async (): Promise<unknown[]> => {
          if (!isKnown(type)) throw unsupported(`DNS records of the type ${type}`);
          const found = await foundBy(link, refuse, { host, type, ttl });
          return [type === "SOA" ? found[0] : found];
        };
        return settle(ask, args.at(-1), ([first]) => first);
      },
  );
}

function close(owner: Record<string, unknown>, name: string, { unsupported }: Dependencies): void {
  replace(
    owner,
    name,
    () =>
      (...args) =>
        settle(
          () => Promise.reject(unsupported(`dns.${name}`)),
          args.at(-1),
          () => undefined,
        ),
  );
}

async function foundBy(
  link: NetworkLink,
  refused: Refuse,
  request: LookUpRequest,
): Promise<readonly unknown[]> {
  const answer: LookUpAnswer = await link.call("lookUp", request, LOOK_UP_MS);
  if ("refusal" in answer) throw refused(answer.refusal);
  if ("failure" in answer) throw errorOf(answer.failure);
  return answer.found;
}

/** Node has each look-up function twice: with a callback and with a promise. */
function settle(ask: Ask, callback: unknown, asOne: (results: unknown[]) => unknown): unknown {
  if (typeof callback !== "function") return ask().then(asOne);
  ask().then(
    (results) => setImmediate(callback as Callback, null, ...results),
    (error) => setImmediate(callback as Callback, error),
  );
  return undefined;
}

function isKnown(type: string): type is RecordType {
  return Object.values(TYPES).includes(type as RecordType);
}

function familyOf(family: unknown): 0 | 4 | 6 {
  if (family === 4 || family === "IPv4") return 4;
  return family === 6 || family === "IPv6" ? 6 : 0;
}

function sorted(
  addresses: readonly Address[],
  order: string = dns.getDefaultResultOrder(),
): Address[] {
  const first = { ipv4first: 4, ipv6first: 6 }[order];
  return addresses.toSorted((a, b) => Number(b.family === first) - Number(a.family === first));
}
