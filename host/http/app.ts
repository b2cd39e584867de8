import type { HostLog } from "../log.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { forwarded } from "./forwarded.ts";
import { KoaApp } from "./koa-app.ts";
import { Metrics } from "./metrics.ts";
import { answerProblem } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import {
  type Guard,
  requireAllowedHost,
  requestId,
  requirePlainTarget,
  securityHeaders,
} from "./request-guards.ts";
import type { Context, Middleware } from "./route.ts";
import { createRouting } from "./router.ts";
import { channelPathRoutes } from "./routes/channel-paths.ts";
import { createRoutes } from "./routes/index.ts";
import { routesOfPlugins } from "./routes/plugin-routes.ts";
import { readDocsPage, staticFiles } from "./static-files.ts";

/** The part of a feed address that is a secret, also if no route matches. */
const SECRET_PART = /(feeds|hooks).+/i;

/** The HTTP API and the dashboard's files, using the parts of the host. */
export function createApp(parts: HttpDependencies): KoaApp {
  const { log, config } = parts;
  const { prefix } = config.current.api;
  const metrics = new Metrics(parts);
  const docs = readDocsPage();
  const contributed = channelPathRoutes(parts);
  const ofPlugins = routesOfPlugins(parts);
  const all = () => [...contributed(), ...ofPlugins()];
  const routes = createRoutes({ ...parts, prefix, metrics, contributed: all, docsPage: docs.page });
  const limit = new RateLimit(() => config.current.server.rateLimit, log);
  const prepare: readonly Guard[] = [
    requestId,
    securityHeaders(() => config.current.server.frames),
  ];
  const guards: readonly Guard[] = [
    forwarded(() => config.current.server.proxies),
    requireAllowedHost(() => config.current.server.hosts),
    requirePlainTarget,
  ];
  const answerFile = staticFiles(docs.assets, parts.assets);
  const answerRoute = createRouting(routes, prefix, { ...parts, contributed, ofPlugins, limit });

  // One step, because a step of Koa's takes longer than a guard.
  const answer: Middleware = async (ctx) => {
    const startedAt = performance.now();
    for (const each of prepare) each(ctx);
    try {
      for (const guard of guards) guard(ctx);
      const answering = answerFile(ctx) ?? answerRoute(ctx);
      if (answering) await answering;
    } catch (error) {
      answerProblem(ctx, error, log);
    }
    noteAnswer(ctx, performance.now() - startedAt, { log, metrics });
  };

  const app = new KoaApp();
  app.on("error", (error: unknown) => log.debug("an answer was interrupted", { error }));
  app.use(answer);
  return app;
}

/**
 * Counts and logs a request when its answer has begun. Logs neither headers nor query, because clients put tokens where
 * they do not belong.
 */
function noteAnswer(
  ctx: Context,
  durationMs: number,
  { log, metrics }: { log: HostLog; metrics: Metrics },
): void {
  const { method, status } = ctx;
  metrics.count({ method, route: ctx.state.route ?? "none", status, durationMs });
  log.debug("request", {
    requestId: ctx.state.requestId,
    method,
    path: ctx.path.replace(SECRET_PART, "$1…"),
    status,
    durationMs: Math.round(durationMs),
  });
}
