import type { Socket } from "node:net";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { isBelow, permits, type Scope } from "../auth/scopes.ts";
import type { Principal } from "../auth/tokens.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { headerValues } from "./request-guards.ts";
import type { Context, Route } from "./route.ts";
import { hasSessionCookie, requireOwnOrigin, sessionTokenIn } from "./session-cookie.ts";

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Authenticates a request: by the token in its Authorization header or, without that header, by its session
 * cookie. A session token is valid only in the cookie, and pages of other origins cannot use it.
 *
 * @throws MantelError `unauthorized`, `origin_refused`
 */
export function authenticate(ctx: Context, tokens: HttpDependencies["tokens"]): Principal {
  const isByHeader = (ctx.req.headers.authorization ?? "") !== "";
  const token = isByHeader ? bearerToken(ctx) : sessionTokenIn(ctx);
  if (token === undefined) throw new MantelError("unauthorized", missingCredentialReason(ctx));
  const principal = tokens.verify(token);
  if (isByHeader === (principal.session === true)) {
    const place = isByHeader ? "the Authorization header" : "the session cookie";
    throw new MantelError("unauthorized", `the token is not valid in ${place}`);
  }
  if (!isByHeader) requireOwnOrigin(ctx);
  return principal;
}

/** True if a request has a credential, valid or not. */
export function hasCredential(ctx: Context): boolean {
  return ctx.get("Authorization") !== "" || hasSessionCookie(ctx);
}

function missingCredentialReason(ctx: Context): string {
  if (ctx.get("Authorization")) return "the Authorization header is not a single bearer token";
  if (hasSessionCookie(ctx)) return "the session cookie is not a single token";
  return "the Authorization header is missing; send a bearer token";
}

/** True if the request has a valid token; with `as` also only while its rights are those of `as`. */
export function isAuthenticated(
  ctx: Context,
  tokens: HttpDependencies["tokens"],
  as?: Principal,
): boolean {
  try {
    const principal = authenticate(ctx, tokens);
    return !as || haveSameRights(principal, as);
  } catch (error) {
    if (error instanceof MantelError) return false;
    throw error;
  }
}

/** @throws MantelError `insufficient_scope` if a principal may only read at the path of this route */
export function requireMoreThanReading(
  { readOnlyPaths = [] }: Principal,
  { path, scope }: Pick<Route, "path" | "scope">,
): void {
  if (scope === "read" || scope === "public" || !isBelow(path, readOnlyPaths)) return;
  throw new MantelError(
    "insufficient_scope",
    `the token may only read at ${readOnlyPaths.map((place) => `/${place}`).join(", ")}; somebody with the scope admin can change that`,
  );
}

/** True if both have the same rights. */
function haveSameRights(one: Principal, other: Principal): boolean {
  const placesOf = ({ readOnlyPaths = [] }: Principal) => readOnlyPaths.join();
  return one.scope.join() === other.scope.join() && placesOf(one) === placesOf(other);
}

/** @throws MantelError `insufficient_scope` */
export function requireScope(principal: Principal, scope: Scope): void {
  if (permits(principal.scope, scope)) return;
  throw new MantelError(
    "insufficient_scope",
    `the scope ${scope} is required, and the token has ${principal.scope.join(", ")}`,
  );
}

/** The bearer token of a request, from the Authorization header only (RFC 6750, 2.1). */
export function bearerToken({ req }: Context): string | undefined {
  const [header = "", ...others] = headerValues(req, "authorization");
  if (others.length > 0) return undefined;
  const last = lastHeaders.get(req.socket);
  if (last?.header === header) return last.token;
  const token = BEARER.exec(header)?.[1];
  if (header.length <= REMEMBERED_LENGTH) lastHeaders.set(req.socket, { header, token });
  return token;
}

/** The most characters of a header that is remembered; a token has some 300. */
const REMEMBERED_LENGTH = 1_024;

/** The last header of each connection, which most send again, and the token in it: the same text is found sooner. */
const lastHeaders = new WeakMap<Socket, { header: string; token: string | undefined }>();
