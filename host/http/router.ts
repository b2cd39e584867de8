import { MantelError } from "@mantel/plugin-sdk/errors";
import type { TObject } from "typebox";
import type { Principal } from "../auth/tokens.ts";
import { check, faultsOf } from "../validate.ts";
import {
  authenticate,
  hasCredential,
  requireMoreThanReading,
  requireScope,
} from "./authenticate.ts";
import { readJson } from "./body.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { notRunning } from "./not-running.ts";
import type { RateLimit } from "./rate-limit.ts";
import { RouteTable } from "./route-table.ts";
import type { Call, Context, Route } from "./route.ts";
import { sendJson } from "./send.ts";

export interface RouterDependencies extends HttpDependencies {
  readonly limit: RateLimit;
  /** The routes that plugins contribute now. They have no parameters in their paths. */
  readonly contributed: () => readonly Route[];
  /** The routes that running plugins add below `/plugins/:id` and at their paths; the same list until they change. */
  readonly ofPlugins: () => readonly Route[];
}

/** Answers a matched request. A promise only if there is something to wait for. */
type Answering = (ctx: Context, params: unknown) => Promise<void> | void;
type Table = RouteTable<Answering>;

/** Routes requests: to the host's own routes, then to channels of plugins at their paths, then to routes of plugins. */
export function createRouting(
  routes: readonly Route[],
  prefix: string,
  dependencies: RouterDependencies,
): (ctx: Context) => Promise<void> | void {
  const own = tableOf(routes, prefix, dependencies);
  const channels = latestTable(dependencies.contributed, prefix, dependencies);
  const added = latestTable(dependencies.ofPlugins, prefix, dependencies);
  return (ctx) => {
    const { method, path } = ctx;
    const found = own.find(method, path) ?? channels().find(method, path);
    if (found) return found.value(ctx, found.params);
    const allowed = channels().methodsAt(path);
    if (allowed.length > 0) return refuseMethod(ctx, allowed, dependencies);
    return answerByPlugins(ctx, { own, added, prefix, dependencies });
  };
}

/** Routes a request that no own route of the host matches to those of plugins, which come and go. */
async function answerByPlugins(
  ctx: Context,
  parts: { own: Table; added: () => Table; prefix: string; dependencies: RouterDependencies },
): Promise<void> {
  const { own, added, prefix, dependencies } = parts;
  const path = ctx.path.startsWith(`${prefix}/`) ? ctx.path.slice(prefix.length) : "";
  const plugin = dependencies.apiPaths.findRouted(path);
  if (plugin === undefined && !path.startsWith("/plugins/"))
    return refuse(ctx, [own], dependencies);
  if (plugin !== undefined) await requireRunning(ctx, plugin, dependencies);
  else await requireNotStopped(ctx, path, dependencies);
  const table = added();
  const found = table.find(ctx.method, ctx.path);
  return found ? found.value(ctx, found.params) : refuse(ctx, [own, table], dependencies);
}

/** The table of routes that come and go. */
function latestTable(
  routes: () => readonly Route[],
  prefix: string,
  dependencies: RouterDependencies,
): () => Table {
  let known: { readonly of: readonly Route[]; readonly table: Table } | undefined;
  return () => {
    const of = routes();
    if (known?.of !== of) known = { of, table: tableOf(of, prefix, dependencies) };
    return known.table;
  };
}

/** @throws MantelError `service_unavailable` while the plugin that has the path does not answer */
async function requireRunning(
  ctx: Context,
  plugin: string,
  dependencies: RouterDependencies,
): Promise<void> {
  if (dependencies.modules.routed().some(({ id }) => id === plugin)) return;
  await identify(ctx, dependencies);
  throw notRunning(plugin);
}

/** @throws MantelError `service_unavailable` for a path below `/plugins/:id` while that plugin does not run */
async function requireNotStopped(
  ctx: Context,
  path: string,
  dependencies: RouterDependencies,
): Promise<void> {
  const [, id] = /^\/plugins\/([^/]+)\//.exec(path) ?? [];
  if (id === undefined || !dependencies.modules.isStopped(id)) return;
  await identify(ctx, dependencies);
  throw notRunning(id);
}

function tableOf(
  routes: readonly Route[],
  prefix: string,
  dependencies: RouterDependencies,
): Table {
  return new RouteTable(
    routes.map((route) => {
      assertScoped(route);
      const { method } = route;
      return { method, path: pathOf(route, prefix), value: answering(route, dependencies) };
    }),
  );
}

/** The full path of a route, with parameters as `:name`. */
export function pathOf({ path, outsidePrefix }: Route, prefix: string): string {
  return outsidePrefix ? path : prefix + path;
}

/** Requires a scope on each route: a route without one would be open by accident. */
function assertScoped({ method, path, scope }: Partial<Route>): void {
  if (!scope) throw new Error(`the route ${method} ${path} declares no scope`);
}

/** Requires a token with the route's scope, if it needs one, and answers. */
function answering(route: Route, dependencies: RouterDependencies): Answering {
  const { path, scope } = route;
  const read = route.method === "GET" ? undefined : readJson(route.body);
  const answer: Answering = (ctx, params) => {
    const body = answerOf(route, ctx, params);
    if (body instanceof Promise) return body.then((made: unknown) => send(ctx, made));
    return send(ctx, body);
  };
  const answerWithBody = async (ctx: Context, params: unknown) => {
    await read?.(ctx, noMore);
    await answer(ctx, params);
  };
  const handle = read ? answerWithBody : answer;
  if (scope === "public") {
    return (ctx, params) => {
      ctx.state.route = path;
      return countPublicRequest(ctx, dependencies, () => handle(ctx, params));
    };
  }
  return (ctx, params) => {
    ctx.state.route = path;
    const identified = (principal: Principal) => {
      ctx.state.principal = principal;
      requireScope(principal, scope);
      if (principal.readOnlyPaths) requireMoreThanReading(principal, route);
      return handle(ctx, params);
    };
    const principal = identify(ctx, dependencies);
    return principal instanceof Promise ? principal.then(identified) : identified(principal);
  };
}

const noMore = (): Promise<void> => Promise.resolve();

/** Counts requests to a public route: it may take a secret in its path or body, which must not be guessed. */
async function countPublicRequest(
  ctx: Context,
  { limit }: RouterDependencies,
  handle: () => Promise<void> | void,
): Promise<void> {
  const counted = limit.countAddress(ctx.ip);
  if (counted) await counted;
  try {
    await handle();
  } catch (error) {
    if (error instanceof MantelError && error.code === "unauthorized") {
      await limit.countFailure(ctx.ip);
    }
    throw error;
  }
}

/**
 * Authenticates before anything else is counted: floods of invalid tokens do not lock out valid ones. A promise only if
 * there is something to wait for.
 */
function identify(ctx: Context, dependencies: RouterDependencies): Principal | Promise<Principal> {
  const { tokens, lastUse, limit, log } = dependencies;
  let principal: Principal;
  try {
    principal = authenticate(ctx, tokens);
  } catch (error) {
    return countRefused(ctx, limit, error);
  }
  lastUse.note(principal.jti);
  const noted = tokens.noteUse(principal)?.catch((error: unknown) => {
    log.warn("could not end the previous token of a display", { name: principal.sub, error });
  });
  const count = () => limit.countToken(principal.jti, ctx.ip);
  const counted = noted ? noted.then(count) : count();
  return counted ? counted.then(() => principal) : principal;
}

/** Counts a request without a valid token. @throws the error that refused it, or MantelError `rate_limited` */
async function countRefused(ctx: Context, limit: RateLimit, error: unknown): Promise<never> {
  if (error instanceof MantelError && error.code === "unauthorized") {
    await (hasCredential(ctx) ? limit.countFailure(ctx.ip) : limit.countAddress(ctx.ip));
  }
  throw error;
}

function answerOf(route: Route, ctx: Context, params: unknown): unknown {
  const call: Call<unknown, unknown> = {
    params: readParams(route.params, params),
    query: readQuery(route.query, ctx),
    body: ctx.request.body,
    principal: ctx.state.principal ?? NOBODY,
  };
  return route.handle(ctx, call as Call<never, never>);
}

/** Sends data as JSON, unless the handler has answered. */
function send(ctx: Context, body: unknown): void {
  if (body !== undefined) sendJson(ctx, body instanceof Buffer ? body : JSON.stringify(body));
}

const NOBODY: Principal = { sub: "nobody", jti: "", scope: [] };

function readParams(schema: TObject | undefined, params: unknown): unknown {
  const [fault] = schema ? faultsOf(schema, params) : [];
  if (!fault) return params;
  throw new MantelError("bad_id", `${fault.pointer.slice(1)} in the path ${fault.detail}`);
}

/** Schemas of queries that may be empty. */
const optional = new WeakSet<TObject>();

function readNoQuery(schema: TObject): object {
  if (!optional.has(schema)) check(schema, {}, "the query");
  optional.add(schema);
  return {};
}

/** Reads the parameters in the schema, and ignores others. */
function readQuery(schema: TObject | undefined, ctx: Context): unknown {
  if (!schema) return {};
  if (ctx.querystring === "") return readNoQuery(schema);
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
function refuse(
  ctx: Context,
  tables: readonly Table[],
  dependencies: RouterDependencies,
): Promise<void> {
  const methods = tables.flatMap((table) => table.methodsAt(ctx.path));
  if (methods.length > 0) return refuseMethod(ctx, methods, dependencies);
  throw new MantelError("not_found", `there is nothing at ${ctx.path}`);
}

/** @throws MantelError `method_not_allowed`, unless the request asks for the methods */
async function refuseMethod(
  ctx: Context,
  methods: readonly string[],
  dependencies: RouterDependencies,
): Promise<void> {
  await identify(ctx, dependencies);
  const allow = [...new Set([...methods, "OPTIONS"])].toSorted();
  if (ctx.method === "OPTIONS") {
    ctx.set("Allow", allow.join(", "));
    ctx.status = 204;
    return;
  }
  throw new MantelError("method_not_allowed", `${ctx.path} allows ${allow.join(", ")}`, { allow });
}
