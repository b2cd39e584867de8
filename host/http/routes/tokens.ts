import { withDefaults } from "@mantel/plugin-sdk/defaults";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { ReadOnlyPaths, SCOPES } from "../../auth/scopes.ts";
import {
  DEVICE_KINDS,
  revokedTogether,
  statusOf,
  type TokenRecord,
} from "../../auth/token-register.ts";
import { TokenName, TokenRequest } from "../../auth/token-request.ts";
import type { IssueRequest, Principal } from "../../auth/tokens.ts";
import { check } from "../../validate.ts";
import { requireScope } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { setSessionCookie } from "../session-cookie.ts";

const LEAST_SECONDS = 60;
const Instant = Type.String({ format: "date-time" });
const MaybeInstant = Type.Union([Instant, Type.Null()]);
const Scopes = Type.Array(Type.Enum([...SCOPES]));
const TokenView = Type.Object({
  /** Its `jti`, which identifies it in the audit log. */
  id: Type.String(),
  name: Type.String(),
  scope: Scopes,
  readOnlyPaths: ReadOnlyPaths,
  status: Type.Enum(["valid", "revoked", "expired"]),
  issuedAt: Instant,
  expiresAt: Instant,
  revokedAt: MaybeInstant,
  lastUsedAt: MaybeInstant,
  /** True for the token of a paired display; it renews itself. */
  display: Type.Boolean(),
  /** True for the token in a browser's cookie. */
  session: Type.Boolean(),
  /** For a signed-in browser: the kind of its device. */
  device: Type.Union([Type.Enum([...DEVICE_KINDS]), Type.Null()]),
  /** True for the token of this request. */
  current: Type.Boolean(),
});
const Token = Type.String({ description: "the token; it is shown only this once" });
const Rotation = Type.Object(
  { drop: Type.Boolean({ default: false, description: "invalidate all tokens at once" }) },
  { additionalProperties: false },
);
const RightsPatch = Type.Object(
  {
    scope: Type.Optional(TokenRequest.properties.scope),
    readOnlyPaths: Type.Optional(ReadOnlyPaths),
  },
  { additionalProperties: false, minProperties: 1 },
);
const shared = { tag: "Tokens", scope: "admin" } as const;

/** `/tokens`: the list of tokens. A token itself is shown only when it is made. */
export function tokenRoutes(parts: HttpDependencies): Route[] {
  return [
    listRoute(parts),
    issueRoute(parts),
    rightsRoute(parts),
    revokeRoute(parts),
    rotateRoute(parts),
  ];
}

function listRoute({ tokens, lastUse }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/tokens",
    operationId: "listTokens",
    summary: "List tokens, without the tokens themselves",
    answers: jsonAnswer("Oldest first", Type.Object({ tokens: Type.Array(TokenView) })),
    handle: (_, { principal }) => ({
      tokens: tokens.list().map((record) => ({
        id: record.jti,
        name: record.name,
        scope: record.scope,
        readOnlyPaths: record.readOnlyPaths ?? [],
        status: statusOf(record),
        issuedAt: record.issuedAt,
        expiresAt: record.expiresAt,
        revokedAt: record.revokedAt,
        lastUsedAt: lastUse.at(record.jti),
        display: record.display === true,
        session: record.session === true,
        device: record.device ?? null,
        current: record.jti === principal.jti,
      })),
    }),
  });
}

function issueRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/tokens",
    operationId: "createToken",
    summary: "Create a token, with at most the rights of the caller",
    body: { schema: TokenRequest },
    answers: {
      201: {
        description: "The new token",
        schema: Type.Object({ token: Token, ...TokenRequest.properties }),
      },
    },
    errors: ["invalid", "disk_full"],
    async handle(ctx, { body, principal }) {
      const request = check(TokenRequest, withDefaults(TokenRequest, body), "the token request");
      for (const scope of request.scope) requireScope(principal, scope);
      const { readOnlyPaths } = principal;
      const limits = readOnlyPaths && { readOnlyPaths: [...readOnlyPaths] };
      const token = await parts.tokens.issue({ ...request, ...limits });
      await recordCompleted(parts, principal, { action: "token.issue", ...request });
      ctx.status = 201;
      return { token, ...request };
    },
  });
}

/** A token cannot change its own rights, so that the last one with the scope admin keeps it. */
function rightsRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "PATCH",
    path: "/tokens/:name",
    operationId: "changeTokenRights",
    summary:
      "Change what a token may do, from now on: its scope, and places where it may only read",
    params: Type.Object({ name: TokenName }),
    query: Type.Object({ id: Type.String({ description: "the token, from the list" }) }),
    body: { schema: RightsPatch },
    answers: jsonAnswer(
      "The number of changed tokens: those it was renewed from or as change too",
      Type.Object({ changed: Type.Integer() }),
    ),
    errors: ["invalid", "token_unknown", "disk_full"],
    async handle(_, { params: { name }, query: { id }, body, principal }) {
      const rights = check(RightsPatch, body, "the rights");
      requireOther(parts, principal, id);
      const changed = await parts.tokens.changeRights(name, id, rights);
      if (changed === 0) throw unknownToken(name, id);
      await recordCompleted(parts, principal, { action: "token.rights", name, id, ...rights });
      return { changed };
    },
  });
}

/** @throws MantelError `invalid` for the token of the request, and those that end with it */
function requireOther({ tokens }: HttpDependencies, { jti }: Principal, id: string): void {
  if (!revokedTogether(id, tokens.list()).some((each) => each.jti === jti)) return;
  const sentence = "a token cannot change its own rights; use another one with the scope admin";
  throw new MantelError("invalid", sentence);
}

function unknownToken(name: string, id: string | undefined): MantelError {
  const which = id === undefined ? "" : ` and the id ${id}`;
  return new MantelError("token_unknown", `no valid token has the name ${name}${which}`);
}

function revokeRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "DELETE",
    path: "/tokens/:name",
    operationId: "revokeToken",
    summary: "Revoke all tokens of a name, or one of them",
    params: Type.Object({ name: TokenName }),
    query: Type.Object({
      id: Type.Optional(
        Type.String({
          description: "revoke only this token, with those it was renewed from or as",
        }),
      ),
    }),
    answers: jsonAnswer("The number of revoked tokens", Type.Object({ revoked: Type.Integer() })),
    errors: ["token_unknown", "disk_full"],
    async handle(_, { params: { name }, query: { id }, principal }) {
      const revoked = await parts.tokens.revoke(name, id);
      if (revoked === 0) throw unknownToken(name, id);
      await recordCompleted(parts, principal, { action: "token.revoke", name, id, revoked });
      return { revoked };
    },
  });
}

function rotateRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/tokens/rotate",
    operationId: "rotateTokenKey",
    summary: "Sign with a new key; tokens stay valid unless `drop` is true",
    body: { schema: Rotation, optional: true },
    answers: jsonAnswer(
      "The number of deleted keys. With `drop`, the caller's token is invalid too, and is replaced: here, or in the cookie of a session",
      Type.Object({ droppedKeys: Type.Integer(), token: Type.Optional(Token) }),
    ),
    errors: ["invalid", "disk_full"],
    async handle(ctx, { body = {}, principal }) {
      const { drop } = check(Rotation, withDefaults(Rotation, body), "the rotation");
      const own = parts.tokens.find(principal.jti);
      const droppedKeys = await parts.tokens.rotateKey({ drop });
      await recordCompleted(parts, principal, { action: "key.rotate", drop, droppedKeys });
      if (!drop) return { droppedKeys };
      const request = successor(principal, own);
      const token = await parts.tokens.issue(request);
      if (!principal.session) return { droppedKeys, token };
      setSessionCookie(ctx, { token, ...request });
      return { droppedKeys };
    },
  });
}

/** A request for a token like the one that is now invalid, with the same lifetime. */
function successor(
  { sub, scope, readOnlyPaths, display, session }: Principal,
  own: TokenRecord | undefined,
): IssueRequest {
  const leftSeconds = own ? Math.floor((Date.parse(own.expiresAt) - Date.now()) / 1000) : 0;
  const ttlSeconds = Math.max(LEAST_SECONDS, leftSeconds);
  const kind = {
    ...(display ? { display } : {}),
    ...(session ? { session } : {}),
    ...(readOnlyPaths ? { readOnlyPaths: [...readOnlyPaths] } : {}),
  };
  return { name: sub, scope: [...scope], ttlSeconds, ...kind };
}
