import Koa from "koa";
import { accessLog } from "./access-log.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { forwarded } from "./forwarded.ts";
import { Metrics } from "./metrics.ts";
import { problems } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import {
  requireAllowedHost,
  requestId,
  requirePlainTarget,
  securityHeaders,
} from "./request-guards.ts";
import type { RequestState } from "./route.ts";
import { createRouting } from "./router.ts";
import { createRoutes } from "./routes/index.ts";
import { readDocsPage, staticFiles } from "./static-files.ts";

/** The HTTP API and the dashboard's files, using the parts of the host. */
export function createApp(parts: HttpDependencies): Koa<RequestState> {
  const { log, config } = parts;
  const { prefix } = config.current.api;
  const metrics = new Metrics(parts);
  const docs = readDocsPage();
  const routes = createRoutes({ ...parts, prefix, metrics, docsPage: docs.page });
  const limit = new RateLimit(() => config.current.server.rateLimit, log);

  const app = new Koa<RequestState>();
  app.on("error", (error: unknown) => log.debug("an answer was interrupted", { error }));

  app.use(requestId);
  app.use(accessLog(log, metrics));
  app.use(securityHeaders(() => config.current.server.frames));
  app.use(problems(log));
  app.use(forwarded(() => config.current.server.proxies));
  app.use(requireAllowedHost(() => config.current.server.hosts));
  app.use(requirePlainTarget);
  app.use(staticFiles(docs.assets, parts.assets));
  for (const step of createRouting(routes, prefix, { ...parts, limit })) app.use(step);

  return app;
}
