import Koa from "koa";
import type { HostLog } from "../log.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { forwarded } from "./forwarded.ts";
import { Metrics } from "./metrics.ts";
import { problems } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import {
  guarded,
  requireAllowedHost,
  requestId,
  requirePlainTarget,
  securityHeaders,
} from "./request-guards.ts";
import type { Middleware, RequestState } from "./route.ts";
import { createRouting } from "./router.ts";
import { channelPathRoutes } from "./routes/channel-paths.ts";
import { createRoutes } from "./routes/index.ts";
import { routesOfPlugins } from "./routes/plugin-routes.ts";
import { readDocsPage, staticFiles } from "./static-files.ts";

/** The part of a feed address that is a secret, also if no route matches. */
const SECRET_PART = /(feeds|hooks).+/i;

/** The HTTP API and the dashboard's files, using the parts of the host. */
export function createApp(parts: HttpDependencies): Koa<RequestState> {
  const { log, config } = parts;
  const { prefix } = config.current.api;
  const metrics = new Metrics(parts);
  const docs = readDocsPage();
  const contributed = channelPathRoutes(parts);
  const ofPlugins = routesOfPlugins(parts);
  const all = () => [...contributed(), ...ofPlugins()];
  const routes = createRoutes({ ...parts, prefix, metrics, contributed: all, docsPage: docs.page });
  const limit = new RateLimit(() => config.current.server.rateLimit, log);

  const app = new Koa<RequestState>();
  app.on("error", (error: unknown) => log.debug("an answer was interrupted", { error }));

  app.use(
    guarded(
      requestId,
      securityHeaders(() => config.current.server.frames),
    ),
  );
  app.use(accessLog(log, metrics));
  app.use(problems(log));
  app.use(
    guarded(
      forwarded(() => config.current.server.proxies),
      requireAllowedHost(() => config.current.server.hosts),
      requirePlainTarget,
    ),
  );
  app.use(staticFiles(docs.assets, parts.assets));
  const dependencies = { ...parts, contributed, ofPlugins, limit };
  app.use(createRouting(routes, prefix, dependencies));

  return app;
}

/**
 * Counts and logs each request when its answer begins. Logs neither headers nor query, because
 * clients put tokens where they do not belong.
 */
function accessLog(log: HostLog, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const { method, status } = ctx;
    const path = ctx.path.replace(SECRET_PART, "$1…");
    const durationMs = performance.now() - startedAt;
    metrics.count({ method, route: ctx.state.route ?? "none", status, durationMs });
    log.debug("request", {
      requestId: ctx.state.requestId,
      method,
      path,
      status,
      durationMs: Math.round(durationMs),
    });
  };
}
