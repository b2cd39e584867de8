import type { TObject, TSchema } from "typebox";
import type { Cause } from "./cause.ts";
import { MantelError } from "./errors.ts";
import { RESERVED_PATHS } from "./reserved-paths.ts";
import type { ValueOf } from "./schema.ts";
import type { ServiceScope } from "./service.ts";

/** Limits of routes. */
export const ROUTE_LIMITS = {
  routes: 50,
  pathLength: 200,
  summaryLength: 200,
  headers: 20,
  /** Bytes of a body without `maxBytes`. */
  usualBytes: 2 ** 16,
  /** The most bytes of a JSON body, and of an answer. */
  mostBytes: 2 ** 20,
  /** The most bytes of a raw body. */
  mostRawBytes: 16 * 2 ** 20,
  /** The most bytes of a file that a route answers with. */
  mostFileBytes: 64 * 2 ** 20,
} as const;

export const ROUTE_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const SEGMENT = "([a-z0-9][a-z0-9._-]*|:[a-z][A-Za-z0-9]*)";
/** The pattern of a route's path: fixed parts in lower case, and parameters such as `:id`. */
export const ROUTE_PATH = `^(/${SEGMENT})+$`;

/** The argument of `defineRoute`. */
export interface RouteOptions<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema | undefined,
  Response extends TSchema | undefined,
> {
  readonly method: (typeof ROUTE_METHODS)[number];
  /** Below `/api/v1/plugins/<id>`, such as `/feeds/:name`. A route has either `path` or `at`. */
  readonly path?: string;
  /** Below `/api/v1`, such as `/tides/:place`; the manifest has `"paths": { "/tides": { "routes": true } }`. */
  readonly at?: string;
  /** The scope that a token needs. `public` needs `secretInPath`. */
  readonly scope: ServiceScope | "public";
  /** A short text for the list of operations. */
  readonly summary: string;
  /** Schemas of the parameters in the path, which are texts. */
  readonly params?: Params;
  /** Schemas of the query's parameters: texts, or arrays of texts. */
  readonly query?: Query;
  /** The schema of a JSON body; absent for a route without one. */
  readonly body?: Body;
  /** True for a body that may be absent. The handler gets an empty object then, which the schema must accept. */
  readonly bodyOptional?: boolean;
  /** The schema of the JSON that the handler answers with. */
  readonly response?: Response | undefined;
  /** True for a body of any content type, which the handler gets as bytes. */
  readonly raw?: boolean;
  /**
   * The largest body; 65,536 if absent, and at most 1,048,576, or 16,777,216 for a raw one. While a handler has a raw
   * body above 1,048,576 bytes, a file in the plugin's storage has it too.
   */
  readonly maxBytes?: number;
  /** Names of request headers that the handler gets, in lower case, such as `x-hub-signature-256`. */
  readonly headers?: readonly string[];
  /**
   * True for a route that is called without a token, at an address with a secret part, which only `ctx.routes.url`
   * tells. For webhooks and OAuth call-backs.
   */
  readonly secretInPath?: boolean;
}

/** One HTTP route of a plugin: a result of `defineRoute`. */
export type RouteDefinition<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema | undefined = TSchema | undefined,
  Response extends TSchema | undefined = TSchema | undefined,
> = RouteOptions<Params, Query, Body, Response>;

/** The type that a schema describes; without a schema anything. */
type Described<S extends TSchema | undefined> = [NonNullable<S>] extends [never]
  ? unknown
  : ValueOf<NonNullable<S>>;

/** A checked request for a handler. */
export interface RouteRequest<D extends RouteDefinition = RouteDefinition> {
  readonly params: ValueOf<NonNullable<D["params"]>>;
  readonly query: ValueOf<NonNullable<D["query"]>>;
  /** The JSON body; `undefined` for a raw one. */
  readonly body: Described<D["body"]>;
  /** The bytes of a raw body. */
  readonly bytes: Uint8Array;
  /** The content type of a raw body; empty if the client sent none. */
  readonly contentType: string;
  /** The request headers that the route names, as far as the client sent them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sender of the request, for plugins of the kind `automation`; absent for a route with `secretInPath`. */
  readonly cause?: Cause;
}

/** The answer of a handler: JSON, text or bytes, a file, a redirect, or only a status. */
export interface RouteAnswer<D extends RouteDefinition = RouteDefinition> {
  /** 200 if absent, 204 without any content, and 302 for a redirect. */
  readonly status?: number;
  /** Checked by `response`. */
  readonly json?: Described<D["response"]>;
  readonly content?: string | Uint8Array;
  /**
   * The absolute path of a file in the plugin's storage, or in a folder of `ctx.folder`, of at most 67,108,864 bytes. The
   * host reads it while it sends it.
   */
  readonly file?: string;
  /** The content type of `content` or `file`, such as `text/csv`. Scripts are refused. */
  readonly type?: string;
  /** An absolute http(s) URL, or a path of this host. */
  readonly redirect?: string;
  /**
   * Some of `cache-control`, `content-disposition`, `content-language`, `etag`, `last-modified`, `retry-after`, and `location` as a path of
   * this host.
   */
  readonly headers?: Readonly<Record<string, string>>;
}

export type RouteHandler<D extends RouteDefinition> = (
  request: RouteRequest<D>,
) => RouteAnswer<D> | Promise<RouteAnswer<D>>;

/** A route with its handler: a result of `handle`. */
export interface HandledRoute {
  readonly definition: RouteDefinition;
  readonly handler: (request: never) => unknown;
}

/**
 * Defines an HTTP route below `/api/v1/plugins/<id>`, or at a path of the API.
 * @throws MantelError `invalid` for a path that the host would refuse
 */
export function defineRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema | undefined = undefined,
  Response extends TSchema | undefined = undefined,
>(
  options: RouteOptions<Params, Query, Body, Response>,
): RouteDefinition<Params, Query, Body, Response> {
  const fault = routeFault(options);
  if (fault === undefined) return options;
  throw new MantelError("invalid", `invalid route ${routeKey(options)}: ${fault}`);
}

/** Connects a route with its handler. `start` returns a list of these under `routes`. */
export function handle<D extends RouteDefinition>(
  definition: D,
  handler: RouteHandler<D>,
): HandledRoute {
  return { definition, handler };
}

/** The method and path of a route, by which it is found: `GET /feeds`, or `GET at /tides`. */
export function routeKey(route: Pick<RouteDefinition, "method" | "path" | "at">): string {
  const { method, path, at } = route;
  return at === undefined ? `${method} ${path}` : `${method} at ${at}`;
}

/** The part of a route's address that the plugin defines. */
export function routePath({ path, at }: Pick<RouteDefinition, "path" | "at">): string {
  return at ?? path ?? "";
}

/** The reason why the host would refuse a route, as the rest of a sentence. */
export function routeFault(route: RouteDefinition): string | undefined {
  const { scope, secretInPath = false, headers = [] } = route;
  const fault = placeFault(route);
  if (fault !== undefined) return fault;
  if ((scope === "public") !== secretInPath) {
    return 'the scope "public" and secretInPath: true belong together';
  }
  const secret = headers.find((name) => /^(authorization|cookie|proxy-.*|host)$/i.test(name));
  return secret === undefined ? bodyFault(route) : `the header ${secret} is not given to plugins`;
}

function bodyFault({ method, raw = false, body, maxBytes = 0 }: RouteDefinition) {
  if (raw && body) return "a raw body has no schema";
  if (method === "GET" && (raw || body)) return "a GET has no body";
  const most = raw ? ROUTE_LIMITS.mostRawBytes : ROUTE_LIMITS.mostBytes;
  return maxBytes > most ? `maxBytes is at most ${most} for this body` : undefined;
}

function placeFault({ path, at, secretInPath = false }: RouteDefinition): string | undefined {
  if ((path === undefined) === (at === undefined)) return "it needs either path or at";
  const text = at ?? path ?? "";
  if (!new RegExp(ROUTE_PATH).test(text)) return "a path is such as /feeds/:name, in lower case";
  const [, first = ""] = text.split("/");
  if (first.startsWith(":")) return "a path begins with a fixed part";
  if (at !== undefined) return secretInPath ? "a secret address has path, and not at" : undefined;
  return RESERVED_PATHS.includes(first) ? `the path /${first} is the host's own` : undefined;
}
