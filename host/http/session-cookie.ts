import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Context } from "./route.ts";

const NAME = "mantel_session";
/** Browsers accept a cookie with this prefix only from its own host and over TLS (RFC 6265bis). */
const HOST_PREFIX = "__Host-";
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** The longest lifetime of a cookie in browsers. */
const MAX_AGE_SECONDS = 400 * 24 * 60 * 60;
const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];
/** The `Sec-Fetch-Site` values of requests from pages of this origin, and of addresses that the user typed. */
const OWN_SITES: readonly string[] = ["", "same-origin", "none"];

/**
 * The token in the session cookie of a request; `undefined` unless there is exactly one: a page
 * on a sibling domain can add a cookie of this name.
 */
export function sessionTokenIn(ctx: Context): string | undefined {
  const found = readableNames(ctx).map((name) => cookiesOf(ctx, name));
  const [token, ...more] = found.find((values) => values.length > 0) ?? [];
  return token !== undefined && more.length === 0 && TOKEN.test(token) ? token : undefined;
}

/** True if a request has a session cookie, valid or not. */
export function hasSessionCookie(ctx: Context): boolean {
  return readableNames(ctx).some((name) => cookiesOf(ctx, name).length > 0);
}

/** Sets a cookie that scripts of a page cannot read, until the token expires. */
export function setSessionCookie(
  ctx: Context,
  { token, ttlSeconds }: { token: string; ttlSeconds: number },
): void {
  const maxAge = Math.min(ttlSeconds, MAX_AGE_SECONDS);
  const isSecure = isReachedByTls(ctx);
  ctx.append("Set-Cookie", cookieOf(nameOf(ctx, isSecure), token, maxAge, isSecure));
}

/** Deletes the cookie. */
export function clearSessionCookie(ctx: Context): void {
  for (const name of readableNames(ctx)) {
    if (cookiesOf(ctx, name).length === 0) continue;
    ctx.append("Set-Cookie", cookieOf(name, "", 0, name.startsWith(HOST_PREFIX)));
  }
}

/**
 * Refuses requests from pages of other origins, because the browser adds the cookie automatically. A write
 * must name this server's origin; a read may omit it.
 *
 * @throws MantelError `origin_refused`
 */
export function requireOwnOrigin(ctx: Context): void {
  const origins = ctx.req.headersDistinct.origin ?? [];
  const mayLackOrigin = SAFE_METHODS.includes(ctx.method);
  const isOwn =
    origins.length === 0 ? mayLackOrigin : origins.length === 1 && isOwnOrigin(ctx, origins[0]);
  if (isOwn && OWN_SITES.includes(ctx.get("Sec-Fetch-Site"))) return;
  throw new MantelError(
    "origin_refused",
    `a request with a session cookie must come from a page of ${hostOf(ctx)}, and this one names ${origins.join(", ") || "no origin"}; a reverse proxy must pass on the requested Host`,
  );
}

/**
 * True for the origin of this server as the browser sees it. If a reverse proxy ends TLS, the
 * browser itself confirms the scheme, in a header that pages cannot set.
 */
function isOwnOrigin(ctx: Context, origin = ""): boolean {
  const host = hostOf(ctx).toLowerCase();
  if (origin === `${ctx.protocol}://${host}`) return true;
  const isVouchedFor = ctx.get("Sec-Fetch-Site") === "same-origin";
  return isVouchedFor && !ctx.secure && origin === `https://${host}`;
}

/** The host and port that the browser requested. */
function hostOf(ctx: Context): string {
  return ctx.state.forwardedHost ?? ctx.get("Host");
}

/**
 * True if the browser uses HTTPS. Behind a reverse proxy that ends TLS, only the origin shows that; it was checked
 * before.
 */
function isReachedByTls(ctx: Context): boolean {
  return ctx.secure || ctx.get("Origin").startsWith("https://");
}

/**
 * The cookie's name. It contains the port, because cookies are shared by all ports of a host and another home may
 * run there.
 */
function nameOf(ctx: Context, isSecure: boolean): string {
  const [, port] = /:(\d+)$/.exec(hostOf(ctx)) ?? [];
  return `${isSecure ? HOST_PREFIX : ""}${NAME}${port === undefined ? "" : `_${port}`}`;
}

/** The cookie names to read. Over TLS, a cookie without the prefix may come from another site. */
function readableNames(ctx: Context): readonly string[] {
  const secure = nameOf(ctx, true);
  return ctx.secure ? [secure] : [secure, nameOf(ctx, false)];
}

function cookiesOf(ctx: Context, name: string): string[] {
  const pairs = ctx
    .get("Cookie")
    .split(";")
    .map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

function cookieOf(name: string, value: string, maxAge: number, isSecure: boolean): string {
  const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict`;
  return `${name}=${value}; ${attributes}${isSecure ? "; Secure" : ""}`;
}
