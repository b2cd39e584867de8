import { type ErrorExtras, MantelError } from "@mantel/plugin-sdk/errors";
import type { HostLog } from "../log.ts";
import { hasCredential } from "./authenticate.ts";
import type { Context } from "./route.ts";

export const PROBLEM_TYPE = "application/problem+json";
const RATE_RETRY_MS = 1_000;
const DOWN_RETRY_MS = 5_000;
const REALM = 'Bearer realm="mantel"';

/**
 * Answers a failure with a problem document (RFC 9457). Only expected failures show their text; for
 * all others the client gets the request id, under which the log has the details.
 */
export function answerProblem(ctx: Context, error: unknown, log: HostLog): void {
  const known = toMantelError(error);
  if (!known) log.error("request failed", { requestId: ctx.state.requestId, error });
  answer(ctx, known ?? new MantelError("internal", "internal error; see the host's log"));
}

function answer(ctx: Context, error: MantelError): void {
  const retryAfterMs = error.extras.retryAfterMs ?? defaultRetryMs(error);
  ctx.status = error.status;
  ctx.set("Cache-Control", "no-store");
  if (error.status === 401) ctx.set("WWW-Authenticate", challenge(ctx));
  if (error.code === "insufficient_scope") {
    ctx.set("WWW-Authenticate", `${REALM}, error="insufficient_scope"`);
  }
  if (error.extras.allow) ctx.set("Allow", error.extras.allow.join(", "));
  if (retryAfterMs !== undefined) {
    ctx.set("Retry-After", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  }
  // The rest of a refused body would be read as the next request.
  if (error.code === "body_too_large" || error.code === "unsupported_media_type") {
    ctx.set("Connection", "close");
  }
  ctx.body = JSON.stringify({
    ...problemDocument(error, ctx.state.requestId),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  ctx.type = PROBLEM_TYPE;
}

/** The error as clients see it. */
export function problemDocument(
  { code, title, status, message: detail, extras }: MantelError,
  requestId: string,
): object {
  const type = `urn:mantel:problem:${code}`;
  return { type, title, status, detail, code, requestId, ...shownExtras(extras) };
}

/** Sends `allow` as a header; a source location is given as an object and as single members. */
function shownExtras({ location, ...extras }: ErrorExtras): object {
  const shown = { ...extras, allow: undefined };
  return location ? { ...shown, ...location, location } : shown;
}

/** A plugin's own refusal may omit the retry time; an answer always has one. */
function defaultRetryMs({ code, status }: MantelError): number | undefined {
  if (code === "bridge_rate_limited" || code === "rate_limited") return RATE_RETRY_MS;
  return status === 503 ? DOWN_RETRY_MS : undefined;
}

/** The challenge of a 401 (RFC 6750, 3.1): a request without a token gets no error code. */
export function challenge(ctx: Context): string {
  return hasCredential(ctx) ? `${REALM}, error="invalid_token"` : REALM;
}

/** Koa and the body parser throw `http-errors`, whose `expose` marks errors of the client. */
function toMantelError(error: unknown): MantelError | undefined {
  if (error instanceof MantelError) return error;
  const { status, expose, type } = (error ?? {}) as {
    status?: number;
    expose?: boolean;
    type?: string;
  };
  if (!expose) return undefined;
  const options = { cause: error };
  return status === 413
    ? new MantelError("body_too_large", "the body is too large", options)
    : new MantelError("bad_request", `the body did not arrive completely: ${type}`, options);
}
