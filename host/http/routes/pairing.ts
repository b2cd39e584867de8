import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { USER_CODE } from "../../auth/pairings.ts";
import { SCOPES } from "../../auth/scopes.ts";
import { statusOf } from "../../auth/token-register.ts";
import { DISPLAY_TTL_SECONDS, TokenRequest } from "../../auth/token-request.ts";
import type { Principal } from "../../auth/tokens.ts";
import { check } from "../../validate.ts";
import { requireScope } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { addressForPhones, PhoneAddress } from "../network-address.ts";
import { clientNetwork } from "../network.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Strict = { additionalProperties: false } as const;
const { name, scope } = TokenRequest.properties;
const Empty = Type.Object({}, Strict);
const DeviceCode = Type.Object(
  { deviceCode: Type.String({ minLength: 1, maxLength: 100 }) },
  Strict,
);
const Approval = Type.Object({ name, scope }, Strict);
const Params = Type.Object({
  userCode: Type.String({ pattern: USER_CODE, description: "the code that the display shows" }),
});
const Started = Type.Object({
  deviceCode: Type.String({ description: "the secret with which the display fetches its token" }),
  userCode: Type.String({ description: "what the display shows" }),
  verificationUri: Type.String({ description: "the page for its approval, relative to the host" }),
  verificationUriComplete: Type.String({ description: "the same with the code, for a QR code" }),
  address: PhoneAddress,
  expiresInSeconds: Type.Integer(),
  intervalSeconds: Type.Integer({ description: "the polling interval of the display" }),
});
const Waiting = Type.Object({
  userCode: Type.String(),
  address: Type.String({ description: "the address of the display" }),
  startedAt: Type.String({ format: "date-time" }),
});
const Collected = Type.Object({
  token: Type.String({ description: "the display's token; it is shown only this once" }),
  name: Type.String(),
  scope: Type.Array(Type.Enum([...SCOPES])),
});

const shared = { tag: "Pairing" } as const;
const decided = { ...shared, scope: "edit", params: Params } as const;

/** `/pairing`: a display gets its token without typing (RFC 8628, as JSON and problem documents). */
export function pairingRoutes(parts: HttpDependencies): Route[] {
  return [
    startRoute(parts),
    collectRoute(parts),
    findRoute(parts),
    approveRoute(parts),
    denyRoute(parts),
  ];
}

function startRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/pairing",
    operationId: "startPairing",
    scope: "public",
    summary: "Request a code, which a user then approves",
    body: { schema: Empty },
    answers: { 201: { description: "The codes, valid for ten minutes", schema: Started } },
    errors: ["invalid"],
    handle(ctx, { body }) {
      check(Empty, body, "the pairing");
      const started = parts.pairings.start(ctx.ip, clientNetwork(ctx.ip));
      ctx.status = 201;
      const verificationUri = "/#pair";
      const verificationUriComplete = `/#pair=${started.userCode}`;
      const address = addressForPhones(ctx, parts);
      return { ...started, ...address, verificationUri, verificationUriComplete };
    },
  });
}

function collectRoute({ pairings, tokens }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/pairing/token",
    operationId: "getPairingToken",
    scope: "public",
    summary: "Fetch the token of an approved display",
    body: { schema: DeviceCode },
    answers: jsonAnswer("The token; it renews itself by POST /tokens/renew", Collected),
    errors: [
      "authorization_pending",
      "slow_down",
      "access_denied",
      "expired_token",
      "invalid",
      "disk_full",
    ],
    async handle(_, { body }) {
      const { deviceCode } = check(DeviceCode, body, "the request for a token");
      const { name: displayName, scope: granted, readOnlyPaths } = pairings.collect(deviceCode);
      const token = await tokens.issue({
        name: displayName,
        scope: [...granted],
        ...(readOnlyPaths && { readOnlyPaths: [...readOnlyPaths] }),
        ttlSeconds: DISPLAY_TTL_SECONDS,
        display: true,
      });
      return { token, name: displayName, scope: granted };
    },
  });
}

function findRoute({ pairings }: HttpDependencies): Route {
  return route({
    ...decided,
    method: "GET",
    path: "/pairing/:userCode",
    operationId: "getPairing",
    summary: "Look up a waiting display",
    answers: jsonAnswer("Its address, and the time of its request", Waiting),
    errors: ["pairing_unknown"],
    handle(_, { params }) {
      const { userCode, address, startedAt } = pairings.find(params.userCode);
      return { userCode, address, startedAt: new Date(startedAt).toISOString() };
    },
  });
}

function approveRoute(parts: HttpDependencies): Route {
  return route({
    ...decided,
    method: "POST",
    path: "/pairing/:userCode/approve",
    operationId: "approvePairing",
    summary: "Approve a display, with at most the rights of the caller",
    body: { schema: Approval },
    answers: jsonAnswer("The scopes of the display", Approval),
    errors: ["pairing_unknown", "name_taken", "invalid"],
    async handle(_, { params, body, principal }) {
      const grant = check(Approval, body, "the approval");
      requireNotDisplay(principal);
      for (const each of grant.scope) requireScope(principal, each);
      requireFreeName(parts, grant.name);
      const { address } = parts.pairings.find(params.userCode);
      const { readOnlyPaths } = principal;
      parts.pairings.decide(params.userCode, { ...grant, ...(readOnlyPaths && { readOnlyPaths }) });
      await recordCompleted(parts, principal, { action: "pairing.approve", ...grant, address });
      return grant;
    },
  });
}

function denyRoute(parts: HttpDependencies): Route {
  return route({
    ...decided,
    method: "DELETE",
    path: "/pairing/:userCode",
    operationId: "rejectPairing",
    summary: "Refuse a display",
    answers: jsonAnswer("The display is refused", Type.Object({ userCode: Type.String() })),
    errors: ["pairing_unknown"],
    async handle(_, { params, principal }) {
      const { userCode, address } = parts.pairings.find(params.userCode);
      parts.pairings.decide(userCode, "denied");
      await recordCompleted(parts, principal, { action: "pairing.deny", address });
      return { userCode };
    },
  });
}

/** Refuses displays as approvers: a revoked display would live on in those it had approved. */
function requireNotDisplay({ display }: Principal): void {
  if (!display) return;
  throw new MantelError("insufficient_scope", "a display cannot approve another display");
}

/** Requires a free name, because users tell displays apart by their names. */
function requireFreeName({ tokens, pairings }: HttpDependencies, displayName: string): void {
  const isTaken = tokens
    .list()
    .some((each) => each.name === displayName && statusOf(each) === "valid");
  if (isTaken || pairings.hasGranted(displayName))
    throw new MantelError("name_taken", `a valid token already has the name ${displayName}`);
}
