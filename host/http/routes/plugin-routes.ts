import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RouteCall } from "@mantel/plugin-sdk/protocol";
import { ROUTE_LIMITS, type RouteDefinition, routeKey } from "@mantel/plugin-sdk/route";
import { type TObject, Type } from "typebox";
import type { CheckedAnswer } from "../../routes/answer.ts";
import type { RouteSecrets } from "../../routes/secrets.ts";
import { check } from "../../validate.ts";
import { readBytes } from "../body.ts";
import { type Answer, type Call, type Context, operationIdOf, type Route } from "../route.ts";

/** A running plugin with routes. */
export interface RoutedPlugin {
  readonly id: string;
  readonly routes: readonly RouteDefinition[];
  /** Calls the handler of a route. @throws MantelError */
  answer(definition: RouteDefinition, call: RouteCall): Promise<CheckedAnswer>;
}

interface Parts {
  readonly plugins: () => readonly RoutedPlugin[];
  readonly routeSecrets: Pick<RouteSecrets, "admits">;
}

const Secret = Type.String({
  maxLength: 64,
  description: "the secret part, which replaces a token",
});

/** The routes that running plugins contribute, as rows of the route table. */
export function routesOfPlugins({ plugins, routeSecrets }: Parts): Route[] {
  return plugins().flatMap((plugin) =>
    plugin.routes.map((definition) => rowOf(plugin, definition, routeSecrets)),
  );
}

function rowOf(
  plugin: RoutedPlugin,
  definition: RouteDefinition,
  secrets: Parts["routeSecrets"],
): Route {
  const { method, path, scope, summary, query, body, raw = false, maxBytes } = definition;
  const { id } = plugin;
  const isSecret = definition.secretInPath === true;
  const bound = maxBytes ?? ROUTE_LIMITS.usualBytes;
  const place = `/plugins/${id}${isSecret ? "/hooks/:secret" : ""}${path}`;
  return {
    method,
    path: place,
    operationId: operationIdOf(method, place),
    scope,
    tag: "Plugins",
    summary: `${id}: ${summary}`,
    ...paramsOf(definition, isSecret),
    ...(query ? { query } : {}),
    ...(body ? { body: { schema: body, maxBytes: bound } } : {}),
    ...(raw
      ? { body: { schema: Type.Unknown(), maxBytes: bound, raw: true, optional: true } }
      : {}),
    answers: answersOf(definition),
    errors: ["invalid", "not_found", "module_down", "deadline_passed", "outcome_unknown"],
    async handle(ctx, call: Call<never, never>) {
      const { secret, ...params } = call.params as Record<string, string>;
      if (isSecret && !secrets.admits(id, secret ?? "")) {
        throw new MantelError("unauthorized", "unknown address");
      }
      if (body) check(body, call.body, "the body");
      const bytes = raw ? await readBytes(ctx, bound) : undefined;
      const answer = await plugin.answer(definition, {
        route: routeKey(definition),
        params,
        query: call.query,
        body: call.body,
        contentType: raw ? ctx.get("Content-Type").slice(0, 200) : "",
        headers: namedHeaders(ctx, definition.headers ?? []),
        ...(bytes ? { bytes: bytes.toString("base64") } : {}),
      });
      send(ctx, answer);
      return undefined;
    },
  };
}

/** A page of a plugin runs no scripts, and counts as another origin than the dashboard. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

function send(ctx: Context, { status, headers, type, body }: CheckedAnswer): void {
  ctx.set("Content-Security-Policy", POLICY);
  ctx.set("Cache-Control", "no-store");
  ctx.set({ ...headers });
  ctx.status = status;
  if (body) ctx.body = body;
  if (type !== undefined) ctx.set("Content-Type", type);
}

function namedHeaders(ctx: Context, names: readonly string[]): Record<string, string> {
  const sent = names.filter((name) => ctx.get(name) !== "");
  return Object.fromEntries(sent.map((name) => [name, ctx.get(name).slice(0, 2_000)]));
}

function paramsOf({ path, params }: RouteDefinition, isSecret: boolean): { params?: TObject } {
  const named = path.match(/(?<=:)\w+/g) ?? [];
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
