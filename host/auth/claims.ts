import type { KeyObject } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import jwt, { type JwtPayload } from "jsonwebtoken";
import { type Static, Type } from "typebox";
import { faultsOf } from "../validate.ts";
import { SCOPES } from "./scopes.ts";

const ALGORITHM = "HS256";
const ISSUER = "mantel";
const AUDIENCE = "mantel-api";
export const LEEWAY_SECONDS = 30;

const Claims = Type.Object({
  sub: Type.String({ minLength: 1 }),
  jti: Type.String({ minLength: 1 }),
  iat: Type.Number(),
  exp: Type.Number(),
  scope: Type.Array(Type.Enum([...SCOPES]), { minItems: 1 }),
  display: Type.Optional(Type.Boolean()),
});

/** The signed content of a token. */
export type TokenClaims = Static<typeof Claims>;

/** A token (RFC 7519) of one algorithm, which is fixed here and never read from a token. */
export function signClaims(claims: TokenClaims, [keyid, key]: [string, KeyObject]): string {
  const options = { algorithm: ALGORITHM, issuer: ISSUER, audience: AUDIENCE, keyid } as const;
  return jwt.sign(claims, key, options);
}

/** The key id in a token's header; `undefined` for text that is not a token. */
export function keyIdOf(token: string): string | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined; // Not a token; callers treat it like an unknown key.
  }
}

/** @throws MantelError `unauthorized`, with the reason */
export function readClaims(token: string, key: KeyObject): TokenClaims {
  const claims = verifySignature(token, key);
  // The library checks `exp` only if present, and accepts a `scope` of any type.
  if (faultsOf(Claims, claims).length > 0) throw unauthorized("the token lacks a required claim");
  return claims as TokenClaims;
}

function verifySignature(token: string, key: KeyObject): JwtPayload {
  try {
    const claims = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: LEEWAY_SECONDS,
    });
    return typeof claims === "string" ? {} : claims;
  } catch (cause) {
    const isExpired = cause instanceof jwt.TokenExpiredError;
    if (isExpired) throw tokenRefused("expired", "the token has expired", cause);
    throw unauthorized("the token is not valid here", cause);
  }
}

/** The error for a token signed by this host, whose holder may know the reason. */
export function tokenRefused(
  reason: "revoked" | "expired",
  message: string,
  cause?: unknown,
): MantelError {
  return new MantelError("unauthorized", message, { reason, cause });
}

/** The error for any other text that is not a token of this host. */
export function unauthorized(message: string, cause?: unknown): MantelError {
  return new MantelError("unauthorized", message, { cause });
}
