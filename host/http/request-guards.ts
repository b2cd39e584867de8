import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Middleware } from "./route.ts";

/** Gives each request an id that its answer, its problem document and the log share. */
export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};

/**
 * Refuses requests for unknown host names, because a page of a foreign site whose name
 * resolves to this machine could otherwise use the API as its own origin (DNS rebinding). Addresses cannot be
 * rebound.
 *
 * @param configured returns the names in the config
 */
export function requireAllowedHost(configured: () => readonly string[]): Middleware {
  return async (ctx, next) => {
    const hosts = ctx.req.headersDistinct.host ?? [];
    if (hosts.length > 1) throw new MantelError("bad_request", "duplicate Host header");
    for (const host of [hosts[0] ?? "", ctx.state.forwardedHost]) {
      if (host !== undefined) requireKnown(hostName(host), configured());
    }
    await next();
  };
}

/** Refuses targets that proxies and routers may interpret differently. */
export const requirePlainTarget: Middleware = async (ctx, next) => {
  const target = ctx.req.url ?? "";
  if (!target.startsWith("/")) {
    throw new MantelError(
      "bad_request",
      "the request target must be a path, without scheme and host",
    );
  }
  try {
    decodeURIComponent(target);
  } catch (cause) {
    throw new MantelError("bad_request", "the request target has an invalid percent escape", {
      cause,
    });
  }
  await next();
};

/**
 * Headers for browsers: nothing from other origins runs in or frames the dashboard, no address leaks, and
 * answers are not cached unless a route allows it. The dashboard itself frames, in sandboxes, the page of
 * widgets and pages of the configured origins; every other page of its own refuses to be framed.
 *
 * @param frames returns the origins in the config
 */
export const securityHeaders =
  (frames: () => readonly string[]): Middleware =>
  async (ctx, next) => {
    ctx.set(BROWSER_HEADERS);
    const framed = ["'self'", ...frames()];
    ctx.set("Content-Security-Policy", `${POLICY}; frame-src ${framed.join(" ")}`);
    // Only for a connection that is encrypted here; behind a proxy, the proxy decides.
    if (ctx.secure) ctx.set("Strict-Transport-Security", `max-age=${HSTS_SECONDS}`);
    await next();
  };

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

const BROWSER_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

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
