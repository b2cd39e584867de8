import { isIP } from "node:net";

export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * The HTTP Basic header (RFC 7617) for the name and password in the options or in the address;
 * empty without a name.
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

/**
 * True if the password of a feed at `first` may be sent to `url`: the same server, or the same name
 * over HTTPS.
 */
export function isSameHost(first: URL, url: URL): boolean {
  if (url.origin === first.origin) return true;
  return url.protocol === "https:" && url.hostname === first.hostname;
}

/**
 * True if the password of an account at `first` may be sent to `url`: also names of the same site
 * over HTTPS, because providers spread accounts over hosts (`caldav.icloud.com`,
 * `p42-caldav.icloud.com`).
 */
export function isSameSite(first: URL, url: URL): boolean {
  if (isSameHost(first, url)) return true;
  if (url.protocol !== "https:") return false;
  const parent = first.hostname.split(".").slice(1).join(".");
  const isRegistry = /^[^.]*$|^[^.]{1,3}\.[a-z]{2}$/.test(parent); // `com`, `co.uk`
  const site = isRegistry || isIP(first.hostname) !== 0 ? first.hostname : parent;
  return url.hostname === site || url.hostname.endsWith(`.${site}`);
}
