import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { ConstantHeaders } from "./constant-headers.ts";
import type { Context } from "./route.ts";

/** Prepares a request, or throws to refuse it. */
export type Guard = (ctx: Context) => void;

/** Gives each request an id that its answer, its problem document and the log share. */
export const requestId: Guard = (ctx) => {
  ctx.state.requestId = randomUUID();
  ctx.res.requestId = ctx.state.requestId;
};

/**
 * Refuses requests for unknown host names, because a page of a foreign site whose name
 * resolves to this machine could otherwise use the API as its own origin (DNS rebinding). Addresses cannot be
 * rebound.
 *
 * @param configured returns the names in the config
 */
export function requireAllowedHost(configured: () => readonly string[]): Guard {
  const known = new KnownHosts();
  return (ctx) => {
    const hosts = headerValues(ctx.req, "host");
    if (hosts.length > 1) throw new MantelError("bad_request", "duplicate Host header");
    known.require(hosts[0] ?? "", configured());
    const { forwardedHost } = ctx.state;
    if (forwardedHost !== undefined) known.require(forwardedHost, configured());
  };
}

/** Refuses targets that proxies and routers may interpret differently. */
export const requirePlainTarget: Guard = (ctx) => {
  const target = ctx.req.url ?? "";
  if (!target.startsWith("/")) {
    throw new MantelError(
      "bad_request",
      "the request target must be a path, without scheme and host",
    );
  }
  if (!target.includes("%")) return;
  try {
    decodeURIComponent(target);
  } catch (cause) {
    throw new MantelError("bad_request", "the request target has an invalid percent escape", {
      cause,
    });
  }
};

/**
 * Headers for browsers: nothing from other origins runs in or frames the dashboard, no address leaks, and
 * answers are not cached unless a route allows it. The dashboard itself frames, in sandboxes, the page of
 * widgets and pages of the configured origins; every other page of its own refuses to be framed.
 *
 * @param frames returns the origins in the config
 */
export const securityHeaders = (frames: () => readonly string[]): Guard => {
  let known: BrowserHeaders | undefined;
  return (ctx) => {
    const of = frames();
    if (known?.of !== of) known = browserHeaders(of);
    // Only for a connection that is encrypted here; behind a proxy, the proxy decides.
    ctx.res.constantHeaders = ctx.secure ? known.secure : known.plain;
  };
};

/** The headers for these origins, for connections that are and are not encrypted here. */
interface BrowserHeaders {
  readonly of: readonly string[];
  readonly plain: ConstantHeaders;
  readonly secure: ConstantHeaders;
}

function browserHeaders(of: readonly string[]): BrowserHeaders {
  const policy = `${POLICY}; frame-src ${["'self'", ...of].join(" ")}`;
  const plain = [...BROWSER_HEADERS, "Content-Security-Policy", policy];
  const secure = [...plain, "Strict-Transport-Security", `max-age=${HSTS_SECONDS}`];
  return { of, plain: new ConstantHeaders(plain), secure: new ConstantHeaders(secure) };
}

/** Thirty days: long enough between visits, short enough to return to plain HTTP (RFC 6797). */
const HSTS_SECONDS = 30 * 24 * 60 * 60;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Names and values in turns. */
export const BROWSER_HEADERS: readonly string[] = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
}).flat();

/** All values of a header of a request. `headersDistinct` would sort all headers for it. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at];
    if (each?.length === name.length && each.toLowerCase() === name)
      values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}

/** Checks hosts by the configured names, and remembers the last one that was accepted. */
class KnownHosts {
  #accepted = "";
  #configured: readonly string[] | undefined;

  /** @throws MantelError `unknown_host` */
  require(host: string, configured: readonly string[]): void {
    if (host === this.#accepted && configured === this.#configured) return;
    requireKnown(hostName(host), configured);
    this.#accepted = host;
    this.#configured = configured;
  }
}

/** The name without its port, in lower case; empty for an invalid host. */
function hostName(host: string): string {
  const [, bracketed, name] = /^(?:\[([0-9a-f:.]+)\]|([^:/@\s]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? name ?? "").toLowerCase();
}

function requireKnown(name: string, configured: readonly string[]): void {
  if (isKnown(name, configured)) return;
  throw new MantelError(
    "unknown_host",
    `unknown host ${name || "(empty)"}; add its name to server.hosts`,
  );
}

function isKnown(name: string, configured: readonly string[]): boolean {
  if (isIP(name) !== 0 || name === "localhost") return true;
  return name !== "" && configured.some((each) => each.toLowerCase() === name);
}
