import { isIP } from "node:net";

export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * The header of HTTP Basic (RFC 7617) for a name and password that are given, or stand in the address;
 * empty when there is no name.
 */
export function basicAuth({ url, username, password }: Credentials & { readonly url: string }): {
  authorization?: string;
} {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const user = username ?? decoded(address?.username ?? "");
  const secret = password ?? decoded(address?.password ?? "");
  if (user === "") return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign is part of the password
  }
}

/** Where the password of a feed at `first` may go: to the same server, and to the same name over HTTPS. */
export function isSameHost(first: URL, url: URL): boolean {
  if (url.origin === first.origin) return true;
  return url.protocol === "https:" && url.hostname === first.hostname;
}

/**
 * Where the password of an account at `first` may go besides: to names of the same site over HTTPS,
 * because providers spread accounts over hosts (`caldav.icloud.com`, `p42-caldav.icloud.com`).
 */
export function isSameSite(first: URL, url: URL): boolean {
  if (isSameHost(first, url)) return true;
  if (url.protocol !== "https:") return false;
  const parent = first.hostname.split(".").slice(1).join(".");
  const isRegistry = /^[^.]*$|^[^.]{1,3}\.[a-z]{2}$/.test(parent); // `com`, `co.uk`
  const site = isRegistry || isIP(first.hostname) !== 0 ? first.hostname : parent;
  return url.hostname === site || url.hostname.endsWith(`.${site}`);
}
