import type { HostLog } from "../log.ts";
import type { Metrics } from "./metrics.ts";
import type { Middleware } from "./route.ts";

/**
 * Counts and logs each request when its answer begins. Neither headers nor query are logged, because
 * clients put tokens where they do not belong.
 */
export function observed(log: HostLog, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const { method, path, status } = ctx;
    const durationMs = performance.now() - startedAt;
    metrics.count({ method, route: ctx.state.route ?? "none", status, durationMs });
    const { requestId } = ctx.state;
    log.debug("request", { requestId, method, path, status, durationMs: Math.round(durationMs) });
  };
}
