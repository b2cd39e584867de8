import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Middleware } from "./route.ts";

/** Gives each request an id that its answer, its problem document and the log share. */
export const numbered: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};

/**
 * Refuses a request for a host that this server is not, because a page of a foreign site whose name
 * points here would otherwise reach it as its own (DNS rebinding). Addresses cannot be rebound.
 *
 * @param configured gives the names from the config
 */
export function knownHost(configured: () => readonly string[]): Middleware {
  return async (ctx, next) => {
    const hosts = ctx.req.headersDistinct.host ?? [];
    if (hosts.length > 1) throw new MantelError("bad_request", "the Host header comes twice");
    for (const host of [hosts[0] ?? "", ctx.state.forwardedHost]) {
      if (host !== undefined) requireKnown(hostName(host), configured());
    }
    await next();
  };
}

/** Refuses targets that a router could read in another way than what stands before or behind it. */
export const plainTarget: Middleware = async (ctx, next) => {
  const target = ctx.req.url ?? "";
  if (!target.startsWith("/")) {
    throw new MantelError("bad_request", "the request target is a path, without scheme and host");
  }
  try {
    decodeURIComponent(target);
  } catch (cause) {
    throw new MantelError("bad_request", "the request target has a broken percent escape", {
      cause,
    });
  }
  await next();
};

/**
 * Headers for browsers: nothing from elsewhere runs or frames the dashboard, no address leaves it, and
 * answers are not kept unless a route says otherwise. The dashboard itself frames pages of the
 * configured origins, in sandboxes, and none without.
 *
 * @param frames gives the origins from the config
 */
export const secured =
  (frames: () => readonly string[]): Middleware =>
  async (ctx, next) => {
    ctx.set(BROWSER_HEADERS);
    const framed = frames();
    if (framed.length > 0) {
      ctx.set("Content-Security-Policy", `${POLICY}; frame-src ${framed.join(" ")}`);
    }
    // Of a connection that is encrypted here; behind a proxy that is for the proxy to say.
    if (ctx.secure) ctx.set("Strict-Transport-Security", `max-age=${HSTS_SECONDS}`);
    await next();
  };

/** Thirty days: long enough between visits, short enough to go back to plain HTTP (RFC 6797). */
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

const BROWSER_HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** The name without its port, in lower case; empty when it is not a host at all. */
function hostName(host: string): string {
  const [, bracketed, name] = /^(?:\[([0-9a-f:.]+)\]|([^:/@\s]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? name ?? "").toLowerCase();
}

function requireKnown(name: string, configured: readonly string[]): void {
  if (isKnown(name, configured)) return;
  throw new MantelError(
    "unknown_host",
    `this server is not ${name || "nameless"}; names it has are listed in server.hosts`,
  );
}

function isKnown(name: string, configured: readonly string[]): boolean {
  if (isIP(name) !== 0 || name === "localhost") return true;
  return name !== "" && configured.some((each) => each.toLowerCase() === name);
}
