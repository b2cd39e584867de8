import { Router } from "@koa/router";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { TObject } from "typebox";
import type { Principal } from "../auth/tokens.ts";
import { check, faultsOf } from "../validate.ts";
import { authenticate, hasCredential, requireScope } from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Call, Context, Middleware, Route } from "./route.ts";

export interface RouterDependencies extends HttpDependencies {
  readonly limit: RateLimit;
  /** The routes that plugins contribute now. They have no parameters in their paths. */
  readonly contributed: () => readonly Route[];
  /** The routes that running plugins add below `/plugins/:id` and at their paths; the same list until they change. */
  readonly ofPlugins: () => readonly Route[];
}

/** The steps of every request to a route, in their order. */
export function createRouting(
  routes: readonly Route[],
  prefix: string,
  gate: RouterDependencies,
): Middleware[] {
  const router = routerOf(routes, prefix, gate);
  return [
    router.routes() as Middleware,
    contributed(prefix, gate),
    routesOfModules(router, prefix, gate),
  ];
}

/** Routes a request that no own route of the host matches to those of plugins, which come and go. */
function routesOfModules(own: Router, prefix: string, gate: RouterDependencies): Middleware {
  const routerOfPlugins = latestRouter(prefix, gate);
  return async (ctx, next) => {
    const path = ctx.path.startsWith(`${prefix}/`) ? ctx.path.slice(prefix.length) : "";
    const plugin = gate.apiPaths.findRouted(path);
    if (plugin === undefined && !path.startsWith("/plugins/"))
      return unmatched([own], gate)(ctx, next);
    if (plugin !== undefined) await requireRunning(ctx, plugin, gate);
    const added = routerOfPlugins();
    const refuse = unmatched([own, added], gate);
    await (added.routes() as Middleware)(ctx, () => refuse(ctx, next) as Promise<void>);
  };
}

/** The router of the routes that plugins add now. */
function latestRouter(prefix: string, gate: RouterDependencies): () => Router {
  let known: { readonly of: readonly Route[]; readonly router: Router } | undefined;
  return () => {
    const of = gate.ofPlugins();
    if (known?.of !== of) known = { of, router: routerOf(of, prefix, gate) };
    return known.router;
  };
}

/** @throws MantelError `service_unavailable` while the plugin that has the path does not answer */
async function requireRunning(
  ctx: Context,
  plugin: string,
  gate: RouterDependencies,
): Promise<void> {
  if (gate.modules.routed().some(({ id }) => id === plugin)) return;
  await identify(ctx, gate);
  const sentence = `${plugin} is not running; see GET /modules/${plugin}`;
  throw new MantelError("service_unavailable", sentence);
}

function routerOf(routes: readonly Route[], prefix: string, gate: RouterDependencies): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of routes) {
    assertScoped(route);
    router.register(
      pathOf(route, prefix),
      [route.method],
      [
        admit(route, gate),
        ...(route.method === "GET" ? [] : [readJson(route.body)]),
        answer(route),
      ],
    );
  }
  return router;
}

/** Answers requests to the routes that plugins contribute; the host's own come first. */
function contributed(prefix: string, gate: RouterDependencies): Middleware {
  return async (ctx, next) => {
    const routes = gate.contributed().filter((route) => pathOf(route, prefix) === ctx.path);
    if (routes.length === 0) return next();
    const wanted = ctx.method === "HEAD" ? "GET" : ctx.method;
    const route = routes.find(({ method }) => method === wanted);
    if (route) return admit(route, gate)(ctx, async () => answer(route)(ctx, next));
    const methods = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return refuseMethod(ctx, [...methods, "OPTIONS"].toSorted(), gate);
  };
}

/** The full path of a route, with parameters as `:name`. */
export function pathOf({ path, outsidePrefix }: Route, prefix: string): string {
  return outsidePrefix ? path : prefix + path;
}

/** Requires a scope on each route: a route without one would be open by accident. */
function assertScoped({ method, path, scope }: Partial<Route>): void {
  if (!scope) throw new Error(`the route ${method} ${path} declares no scope`);
}

/** Requires a token with the route's scope, if it needs one. */
function admit(route: Route, gate: RouterDependencies): Middleware {
  return async (ctx, next) => {
    ctx.state.route = route.path;
    if (route.scope === "public") return countPublicRequest(ctx, gate, next);
    ctx.state.principal = await identify(ctx, gate);
    requireScope(ctx.state.principal, route.scope);
    await next();
  };
}

/** Counts requests to a public route: it may take a secret in its path or body, which must not be guessed. */
async function countPublicRequest(
  ctx: Context,
  { limit }: RouterDependencies,
  next: () => Promise<void>,
): Promise<void> {
  await limit.countAddress(ctx.ip);
  try {
    await next();
  } catch (error) {
    if (error instanceof MantelError && error.code === "unauthorized") {
      await limit.countFailure(ctx.ip);
    }
    throw error;
  }
}

/** Authenticates before anything else is counted: floods of invalid tokens do not lock out valid ones. */
async function identify(
  ctx: Context,
  { tokens, lastUse, limit, log }: RouterDependencies,
): Promise<Principal> {
  try {
    const principal = authenticate(ctx, tokens);
    lastUse.note(principal.jti);
    await tokens.noteUse(principal).catch((error: unknown) => {
      log.warn("could not end the previous token of a display", { name: principal.sub, error });
    });
    await limit.countToken(principal.jti, ctx.ip);
    return principal;
  } catch (error) {
    if (error instanceof MantelError && error.code === "unauthorized") {
      await (hasCredential(ctx) ? limit.countFailure(ctx.ip) : limit.countAddress(ctx.ip));
    }
    throw error;
  }
}

function answer(route: Route): Middleware {
  return async (ctx) => {
    const call: Call<unknown, unknown> = {
      params: readParams(route.params, ctx),
      query: readQuery(route.query, ctx),
      body: ctx.request.body,
      principal: ctx.state.principal ?? NOBODY,
    };
    const body = await route.handle(ctx, call as Call<never, never>);
    if (body === undefined) return;
    ctx.body = JSON.stringify(body);
    ctx.type = "application/json";
  };
}

const NOBODY: Principal = { sub: "nobody", jti: "", scope: [] };

function readParams(schema: TObject | undefined, ctx: Context): unknown {
  const params = (ctx as Context & { params: unknown }).params;
  const [fault] = schema ? faultsOf(schema, params) : [];
  if (!fault) return params;
  throw new MantelError("bad_id", `${fault.pointer.slice(1)} in the path ${fault.detail}`);
}

/** Reads the parameters in the schema, and ignores others. */
function readQuery(schema: TObject | undefined, ctx: Context): unknown {
  if (!schema) return {};
  const given = new URLSearchParams(ctx.querystring);
  const query = new Map<string, string | string[]>();
  for (const [name, { type }] of Object.entries(
    schema.properties as Record<string, { type?: string }>,
  )) {
    const texts = given.getAll(name);
    const last = texts.at(-1);
    if (last === undefined) continue;
    query.set(name, type === "array" ? texts.flatMap((text) => text.split(",")) : last);
  }
  return check(schema, Object.fromEntries(query), "the query");
}

/** The error for an unmatched request: an unknown path, or only a wrong method. */
function unmatched(routers: readonly Router[], gate: RouterDependencies): Middleware {
  return async (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    if (layers.length === 0) throw new MantelError("not_found", `there is nothing at ${ctx.path}`);
    const allow = [...new Set(layers.flatMap(({ methods }) => methods)), "OPTIONS"].toSorted();
    return refuseMethod(ctx, allow, gate);
  };
}

/** @throws MantelError `method_not_allowed`, unless the request asks for the methods */
async function refuseMethod(
  ctx: Context,
  allow: readonly string[],
  gate: RouterDependencies,
): Promise<void> {
  await identify(ctx, gate);
  if (ctx.method === "OPTIONS") {
    ctx.set("Allow", allow.join(", "));
    ctx.status = 204;
    return;
  }
  throw new MantelError("method_not_allowed", `${ctx.path} allows ${allow.join(", ")}`, { allow });
}
