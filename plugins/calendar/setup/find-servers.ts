import type { promises } from "node:dns";
import { domainToASCII } from "node:url";
import { MantelError, sentence, withDeadline } from "@mantel/plugin-sdk";
import { isSameSite } from "../web/credentials.ts";
import { findByDomain, findByMailServer, type KnownPlace } from "./providers.ts";

/** The look-ups that the search makes. */
export type Dns = Pick<typeof promises, "resolveSrv" | "resolveTxt" | "resolveMx">;

/** A place where the calendars of an address may be: a server, or a provider that asks for a sign-in. */
export type FoundPlace = FoundServer | Extract<KnownPlace, { signInAt: unknown }>;

export interface FoundServer {
  readonly url: string;
  /**
   * True if only the name system says so, which anybody between may have changed: a user agrees before the password is
   * sent there (RFC 6764, 8).
   */
  readonly isElsewhere: boolean;
}

const LOOK_UP_MS = 5_000;
/** Maximum servers of a domain that are tried. */
const MOST_SERVERS = 4;
const WELL_KNOWN = "/.well-known/caldav";

const NOT_AN_ADDRESS = sentence(
  "not_an_address",
  "this is neither a mail address nor the address of a server",
);
const NO_SERVICE = sentence("no_caldav_service", "{domain} says that it has no calendars");

/**
 * The servers to try for a mail address, or for the name or URL of a server, the best one first: a known provider, the
 * domain's SRV and TXT records, the provider of its mail, and at last the domain itself (RFC 6764, 6).
 * @throws MantelError `invalid` if the address is none, or its domain says that it has no calendars
 */
export async function findServers(address: string, dns: Dns): Promise<FoundPlace[]> {
  const text = address.trim();
  const at = text.lastIndexOf("@");
  if (at <= 0 || text.includes("/")) return [{ url: serverUrl(text), isElsewhere: false }];
  const domain = domainToASCII(text.slice(at + 1).toLowerCase());
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain)) throw new MantelError("invalid", NOT_AN_ADDRESS);
  const own = { url: `https://${domain}/`, isElsewhere: false };
  const known = findByDomain(domain);
  if (known) return [asFound(known)];
  const [published, mail] = await Promise.all([
    publishedServers(domain, dns),
    ask(dns.resolveMx(domain)),
  ]);
  if (published.length > 0) return published;
  const [first] = mail.toSorted((a, b) => a.priority - b.priority);
  const byMail = findByMailServer(first?.exchange ?? "");
  return [...(byMail ? [asFound(byMail)] : []), own];
}

function asFound(place: KnownPlace): FoundPlace {
  return "url" in place ? { url: place.url, isElsewhere: false } : place;
}

function serverUrl(text: string): string {
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (/\s/.test(text) || !URL.canParse(url)) throw new MantelError("invalid", NOT_AN_ADDRESS);
  return url;
}

/** The servers in the SRV records of a domain, with the path in its TXT record. Only those with TLS. */
async function publishedServers(domain: string, dns: Dns): Promise<FoundServer[]> {
  const name = `_caldavs._tcp.${domain}`;
  const [records, strings] = await Promise.all([
    ask(dns.resolveSrv(name)),
    ask(dns.resolveTxt(name)),
  ]);
  if (records.length === 0) return [];
  const texts = strings.map((parts) => parts.join(""));
  const path = texts.map((each) => /^path=(\/\S{0,500})$/i.exec(each)?.[1]).find(Boolean);
  const servers = records
    .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)
    .map(
      ({ name: host, port }) => `https://${host.replace(/\.$/, "")}:${port}${path ?? WELL_KNOWN}`,
    )
    .filter((url) => URL.canParse(url)) // a record with the name "." (RFC 2782) gives no URL
    .slice(0, MOST_SERVERS);
  if (servers.length === 0) {
    throw new MantelError("invalid", { ...NO_SERVICE, values: { domain: domain.slice(0, 100) } });
  }
  const own = new URL(`https://${domain}/`);
  return servers.map((url) => ({ url, isElsewhere: !isSameSite(own, new URL(url)) }));
}

/** The records; none if there are none, or the name system does not answer in time. */
async function ask<T>(records: Promise<T[]>): Promise<T[]> {
  try {
    return await withDeadline(records, LOOK_UP_MS, "a look-up");
  } catch {
    return [];
  }
}
