import { MantelError } from "@mantel/plugin-sdk/errors";
import { permits, type Scope } from "../auth/scopes.ts";
import type { Principal } from "../auth/tokens.ts";
import type { Parts } from "./parts.ts";
import type { Context } from "./route.ts";

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** @throws MantelError `unauthorized` */
export function authenticate(ctx: Context, tokens: Parts["tokens"]): Principal {
  const token = bearerToken(ctx);
  if (token !== undefined) return tokens.verify(token);
  const message = ctx.get("Authorization")
    ? "the Authorization header is not one bearer token"
    : "the Authorization header is missing; send a bearer token";
  throw new MantelError("unauthorized", message);
}

/** True when the request brings a token that is valid now. */
export function isAuthenticated(ctx: Context, tokens: Parts["tokens"]): boolean {
  try {
    authenticate(ctx, tokens);
    return true;
  } catch (error) {
    if (error instanceof MantelError) return false;
    throw error;
  }
}

/** @throws MantelError `insufficient_scope` */
export function requireScope(principal: Principal, scope: Scope): void {
  if (permits(principal.scope, scope)) return;
  throw new MantelError(
    "insufficient_scope",
    `this needs the scope ${scope}, and the token has ${principal.scope.join(", ")}`,
  );
}

/** The token a request brings, from its Authorization header alone (RFC 6750, 2.1). */
function bearerToken(ctx: Context): string | undefined {
  const headers = ctx.req.headersDistinct.authorization ?? [];
  return headers.length === 1 ? BEARER.exec(headers[0] ?? "")?.[1] : undefined;
}
