import Koa from "koa";
import { forwarded } from "./forwarded.ts";
import { Metrics } from "./metrics.ts";
import { observed } from "./observed.ts";
import type { Parts } from "./parts.ts";
import { problems } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import { knownHost, numbered, plainTarget, secured } from "./request-head.ts";
import type { RequestState } from "./route.ts";
import { routing } from "./router.ts";
import { createRoutes } from "./routes/index.ts";
import { readDocsPage, staticFiles } from "./static-files.ts";

/** The HTTP API and the dashboard's files, over the parts of the host. */
export function createApp(parts: Parts): Koa<RequestState> {
  const { log, config } = parts;
  const { prefix } = config.current.api;
  const metrics = new Metrics(parts);
  const docs = readDocsPage();
  const routes = createRoutes({ ...parts, prefix, metrics, docsPage: docs.page });
  const limit = new RateLimit(() => config.current.server.rateLimit, log);

  const app = new Koa<RequestState>();
  app.on("error", (error: unknown) => log.debug("an answer was cut off", { error }));

  app.use(numbered);
  app.use(observed(log, metrics));
  app.use(secured(() => config.current.server.frames));
  app.use(problems(log));
  app.use(forwarded(() => config.current.server.proxies));
  app.use(knownHost(() => config.current.server.hosts));
  app.use(plainTarget);
  app.use(staticFiles(docs.assets, parts.assets));
  for (const step of routing(routes, prefix, { ...parts, limit })) app.use(step);

  return app;
}
