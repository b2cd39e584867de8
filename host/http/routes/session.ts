import { withDefaults } from "@mantel/plugin-sdk/defaults";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { ReadOnlyPaths, SCOPES } from "../../auth/scopes.ts";
import type { DeviceKind } from "../../auth/token-register.ts";
import type { Principal } from "../../auth/tokens.ts";
import { check } from "../../validate.ts";
import { bearerToken } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";
import {
  clearSessionCookie,
  requireOwnOrigin,
  sessionTokenIn,
  setSessionCookie,
} from "../session-cookie.ts";

const SignIn = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description:
          "the token of a link, or any other; absent if it is in the Authorization header",
      }),
    ),
    replace: Type.Boolean({
      default: false,
      description: "true ends the current session of this browser, if any; ask the user first",
    }),
  },
  { additionalProperties: false },
);
const Signed = Type.Object({
  name: Type.String(),
  scope: Type.Array(Type.Enum([...SCOPES])),
  readOnlyPaths: ReadOnlyPaths,
  /** True for a paired display. */
  display: Type.Boolean(),
  expiresAt: Type.String({ format: "date-time" }),
});
const COOKIE = "The cookie, which scripts of a page cannot read";

const shared = { tag: "Session", path: "/session" } as const;

/** `/session`: exchanges a token for a cookie when a browser signs in, and signs it out. */
export function sessionRoutes(parts: HttpDependencies): Route[] {
  return [showRoute(parts), signInRoute(parts), signOutRoute(parts)];
}

function showRoute({ tokens }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    operationId: "getSession",
    scope: "read",
    summary: "Read who is signed in",
    answers: jsonAnswer("The sender, by its cookie or its token", Signed),
    handle: (_, { principal }) => shownOf(tokens, principal),
  });
}

/** Public, because it authenticates by the token itself. Requires an origin, which every browser sends. */
function signInRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    operationId: "signIn",
    scope: "public",
    summary: "Sign a browser in: exchange a token for a cookie. Each link works once",
    body: { schema: SignIn, optional: true },
    answers: {
      201: { description: "Who is signed in", schema: Signed, headers: { "Set-Cookie": COOKIE } },
    },
    errors: ["unauthorized", "link_used", "origin_refused", "signed_in", "invalid", "disk_full"],
    async handle(ctx, { body = {} }) {
      const given = check(SignIn, withDefaults(SignIn, body), "the sign-in");
      const token = bearerToken(ctx) ?? given.token;
      if (token === undefined) throw new MantelError("unauthorized", "the sign-in has no token");
      const opener = parts.tokens.getOpener(token);
      requireOwnOrigin(ctx);
      if (!given.replace) requireSignedOut(ctx, parts.tokens);
      const session = await parts.tokens.openSession(token, deviceOf(ctx.get("User-Agent")));
      parts.lastUse.note(opener.jti);
      await endSession(ctx, parts);
      setSessionCookie(ctx, session);
      const principal = parts.tokens.verify(session.token);
      await recordCompleted(parts, principal, { action: "session.start", scope: principal.scope });
      ctx.status = 201;
      return shownOf(parts.tokens, principal);
    },
  });
}

/** The kind of device by what its browser says of itself (RFC 9110, 10.1.5). iPads say that they are computers. */
export function deviceOf(userAgent: string): DeviceKind {
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return "tablet";
  return /iPhone|Mobi/i.test(userAgent) ? "phone" : "computer";
}

function signOutRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "DELETE",
    operationId: "signOut",
    scope: "read",
    summary: "Sign a browser out: end its session and delete its cookie",
    answers: { 204: { description: "The browser is signed out" } },
    errors: ["not_found", "disk_full"],
    async handle(ctx, { principal }) {
      if (!principal.session) {
        throw new MantelError("not_found", "the request has a token and no session");
      }
      await endSession(ctx, parts);
      clearSessionCookie(ctx);
      ctx.status = 204;
    },
  });
}

/** @throws MantelError `signed_in` */
function requireSignedOut(ctx: Context, tokens: HttpDependencies["tokens"]): void {
  const signedIn = sessionOf(ctx, tokens);
  if (!signedIn) return;
  const message = `${signedIn.sub} is already signed in; send "replace": true to sign them out`;
  throw new MantelError("signed_in", message);
}

/** Ends the session of a request's cookie, if there is one. */
async function endSession(ctx: Context, parts: HttpDependencies): Promise<void> {
  const principal = sessionOf(ctx, parts.tokens);
  if (!principal) return;
  await parts.tokens.end(principal);
  await recordCompleted(parts, principal, { action: "session.end" });
}

/** The session of a request, even if it also has an Authorization header. */
function sessionOf(ctx: Context, tokens: HttpDependencies["tokens"]): Principal | undefined {
  try {
    const principal = tokens.verify(sessionTokenIn(ctx) ?? "");
    return principal.session ? principal : undefined;
  } catch (error) {
    if (error instanceof MantelError) return undefined;
    throw error;
  }
}

function shownOf(
  tokens: HttpDependencies["tokens"],
  { sub, jti, scope, readOnlyPaths = [], display = false }: Principal,
): object {
  return { name: sub, scope, readOnlyPaths, display, expiresAt: tokens.find(jti)?.expiresAt };
}
