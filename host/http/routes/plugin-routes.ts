import { type ErrorCode, MantelError } from "@mantel/plugin-sdk/errors";
import { ROUTE_LIMITS, type RouteDefinition, routeKey, routePath } from "@mantel/plugin-sdk/route";
import { type TObject, Type } from "typebox";
import type { AnswerFile, ReadyAnswer } from "../../routes/answer-file.ts";
import type { ApiPaths } from "../../routes/api-paths.ts";
import type { RoutedPlugin } from "../../routes/routed-plugin.ts";
import type { RouteSecrets } from "../../routes/secrets.ts";
import { check } from "../../validate.ts";
import { readBytes } from "../body.ts";
import { causeOf } from "../cause-of.ts";
import { matchesEtag } from "../etag.ts";
import {
  type Answer,
  type Call,
  type Context,
  operationIdOf,
  type RequestHeader,
  type Route,
} from "../route.ts";

interface Dependencies {
  readonly modules: { routed(): readonly RoutedPlugin[] };
  readonly apiPaths: Pick<ApiPaths, "findRouted" | "changes">;
  readonly routeSecrets: Pick<RouteSecrets, "admits">;
}

const Secret = Type.String({
  maxLength: 64,
  description: "the secret part, which replaces a token",
});

/**
 * The routes that running plugins contribute, as rows of the route table; the same list until they change. Routes at a
 * path of the API that another plugin has are not among them.
 */
export function routesOfPlugins(parts: Dependencies): () => readonly Route[] {
  const { modules, apiPaths } = parts;
  let known: { readonly of: readonly unknown[]; readonly routes: readonly Route[] } | undefined;
  return () => {
    const plugins = modules.routed();
    const of = [apiPaths.changes, ...plugins.map(({ routes }) => routes)];
    if (known?.of.length !== of.length || !of.every((each, at) => each === known?.of[at])) {
      known = { of, routes: plugins.flatMap((plugin) => rowsOf(plugin, parts)) };
    }
    return known.routes;
  };
}

function rowsOf(plugin: RoutedPlugin, { apiPaths, routeSecrets }: Dependencies): Route[] {
  return plugin.routes
    .filter(({ at }) => at === undefined || apiPaths.findRouted(at) === plugin.id)
    .map((definition) => rowOf(plugin, definition, routeSecrets));
}

/** The path of a route below the prefix of the API. */
function placeOf(id: string, { path, at, secretInPath }: RouteDefinition): string {
  return at ?? `/plugins/${id}${secretInPath ? "/hooks/:secret" : ""}${path}`;
}

function rowOf(
  plugin: RoutedPlugin,
  definition: RouteDefinition,
  secrets: Dependencies["routeSecrets"],
): Route {
  const { method, at, scope, summary, query, raw = false, maxBytes } = definition;
  const { body, bodyOptional: optional = false } = definition;
  const { id } = plugin;
  const isSecret = definition.secretInPath === true;
  const bound = maxBytes ?? ROUTE_LIMITS.usualBytes;
  const place = placeOf(id, definition);
  return {
    method,
    path: place,
    operationId: operationIdOf(method, place),
    scope,
    tag: "Plugins",
    summary: at === undefined ? `${id}: ${summary}` : summary,
    ...paramsOf(definition, isSecret),
    ...(query ? { query } : {}),
    ...(body ? { body: { schema: body, maxBytes: bound, ...(optional && { optional }) } } : {}),
    ...(raw
      ? { body: { schema: Type.Unknown(), maxBytes: bound, raw: true, optional: true } }
      : {}),
    headers: requestHeaders(definition),
    answers: answersOf(definition),
    errors: errorsOf(definition),
    async handle(ctx, call: Call<never, never>) {
      const { secret, ...params } = call.params as Record<string, string>;
      if (isSecret && !secrets.admits(id, secret ?? "")) {
        throw new MantelError("unauthorized", "unknown address");
      }
      const sent = call.body ?? (optional ? {} : undefined);
      if (body) check(body, sent, "the body");
      const bytes = raw ? await readBytes(ctx, bound) : undefined;
      const answer = await plugin.answer(definition, {
        route: routeKey(definition),
        params,
        query: call.query,
        body: sent,
        contentType: raw ? ctx.get("Content-Type").slice(0, 200) : "",
        headers: namedHeaders(ctx, definition.headers ?? []),
        ...(scope === "public" ? {} : { cause: causeOf(call.principal) }),
        ...(bytes ? { bytes } : {}),
      });
      send(ctx, answer);
      return undefined;
    },
  };
}

/** A page of a plugin runs no scripts, and counts as another origin than the dashboard. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

function send(ctx: Context, { status, headers, type, body, file }: ReadyAnswer): void {
  ctx.set("Content-Security-Policy", POLICY);
  const { etag } = headers;
  ctx.set("Cache-Control", etag === undefined ? "no-store" : "private, no-cache");
  ctx.set({ ...headers });
  const isKnown = etag !== undefined && status === 200 && /^(GET|HEAD)$/.test(ctx.method);
  if (isKnown && matchesEtag(ctx, etag)) {
    void file?.handle.close();
    ctx.status = 304;
    return;
  }
  ctx.status = status;
  if (body) ctx.body = body;
  if (file) sendFile(ctx, file);
  if (type !== undefined) ctx.set("Content-Type", type);
}

/** Sends a file, which may be written meanwhile: no more bytes than it had. Koa closes it when the answer ends. */
function sendFile(ctx: Context, { handle, bytes }: AnswerFile): void {
  ctx.body = bytes === 0 ? Buffer.alloc(0) : handle.createReadStream({ end: bytes - 1 });
  if (bytes === 0) void handle.close();
  ctx.length = bytes;
}

function namedHeaders(ctx: Context, names: readonly string[]): Record<string, string> {
  const sent = names.filter((name) => ctx.get(name) !== "");
  return Object.fromEntries(sent.map((name) => [name, ctx.get(name).slice(0, 2_000)]));
}

/** The headers with a meaning in HTTP, which the API's document describes. */
function requestHeaders({ headers = [] }: RouteDefinition): RequestHeader[] {
  const all = ["If-Match", "If-None-Match"] as const;
  return all.filter((name) => headers.includes(name.toLowerCase()));
}

function errorsOf({ at, headers = [] }: RouteDefinition): ErrorCode[] {
  const codes: ErrorCode[] = ["invalid", "not_found", "module_down", "deadline_passed"];
  codes.push("outcome_unknown");
  if (at !== undefined) codes.push("service_unavailable");
  if (headers.includes("if-match")) codes.push("revision_stale");
  return codes;
}

function paramsOf({ params, ...route }: RouteDefinition, isSecret: boolean): { params?: TObject } {
  const named = routePath(route).match(/(?<=:)\w+/g) ?? [];
  const properties = {
    ...Object.fromEntries(named.map((name) => [name, Type.String({ maxLength: 500 })])),
    ...params?.properties,
    ...(isSecret ? { secret: Secret } : {}),
  };
  const required = Object.keys(properties);
  if (required.length === 0) return {};
  return { params: { type: "object", properties, required } as unknown as TObject };
}

function answersOf({ response }: RouteDefinition): Readonly<Record<number, Answer>> {
  const description = "The answer of the plugin";
  return { 200: response ? { description, schema: response } : { description, type: "*/*" } };
}
