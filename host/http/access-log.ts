import type { HostLog } from "../log.ts";
import type { Metrics } from "./metrics.ts";
import type { Middleware } from "./route.ts";

/**
 * Counts and logs each request when its answer begins. Logs neither headers nor query, because
 * clients put tokens where they do not belong.
 */
export function accessLog(log: HostLog, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const { method, status } = ctx;
    const path = ctx.path.replace(SECRET_PART, "$1…");
    const durationMs = performance.now() - startedAt;
    metrics.count({ method, route: ctx.state.route ?? "none", status, durationMs });
    const { requestId } = ctx.state;
    log.debug("request", { requestId, method, path, status, durationMs: Math.round(durationMs) });
  };
}

/** The part of a feed address that is a secret, also if no route matches. */
const SECRET_PART = /(feeds).+/i;
