import { createHash } from "node:crypto";
import type { ErrorCode } from "@mantel/plugin-sdk/errors";
import type { ValueOf } from "@mantel/plugin-sdk/schema";
import type Koa from "koa";
import type { TObject, TSchema } from "typebox";
import type { Scope } from "../auth/scopes.ts";
import type { Principal } from "../auth/tokens.ts";
import type { HttpResponse } from "./response.ts";

/** Request state that middleware passes on. */
export interface RequestState {
  requestId: string;
  /** The host that the client requested, from a configured proxy. */
  forwardedHost?: string;
  /** The pattern of the matched route, for metrics and logs. */
  route?: string;
  /** The authenticated sender; absent on public routes. */
  principal?: Principal;
}
/** A request and its answer; `HttpServer` makes all answers. */
export type Context = Koa.ParameterizedContext<RequestState> & { readonly res: HttpResponse };
export type Middleware = (ctx: Context, next: () => Promise<void>) => Promise<void> | void;

/** A checked request, for a route's handler. */
export interface Call<Params, Query> {
  readonly params: Params;
  readonly query: Query;
  /** Parsed JSON, `undefined` if there was none. The handler validates it. */
  readonly body: unknown;
  readonly principal: Principal;
}

export interface Answer {
  readonly description: string;
  /** Absent for an answer without JSON. */
  readonly schema?: TSchema;
  /** Absent means `application/json`. */
  readonly type?: string;
  /** Descriptions of headers beyond those that follow from the route's form. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The JSON body of a route. */
export interface BodyDescription {
  readonly schema: TSchema;
  /** Absent means 64 KiB. */
  readonly maxBytes?: number;
  /** True if the body may be missing and means all defaults. */
  readonly optional?: boolean;
  /** True for a body too large to be parsed in the host. The handler reads it with `readBytes`. */
  readonly unparsed?: boolean;
  /** True for a body of any content type. The handler reads it with `readBytes`. */
  readonly raw?: boolean;
  /** True for a JSON Merge Patch (RFC 7396), which may come under its own media type. */
  readonly mergePatch?: boolean;
}

export type RequestHeader = "If-Match" | "If-None-Match" | "Last-Event-ID" | "Prefer";

/**
 * One operation of the API. The router, the checks and the OpenAPI document use the same table,
 * so that they always agree.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the prefix; parameters as `:name`. */
  readonly path: string;
  /** True for a path outside the prefix. */
  readonly outsidePrefix?: boolean;
  /** The name of the operation in generated clients, such as `listDevices`. Unique, and never changed in a version. */
  readonly operationId: string;
  readonly scope: Scope | "public";
  readonly tag: string;
  /** A short text for the list of operations. */
  readonly summary: string;
  /** Patterns of the path's parameters. A fault is 400 `bad_id`. */
  readonly params?: TObject;
  /** Texts, or arrays of texts for what may be repeated or joined by commas. A fault is 422. */
  readonly query?: TObject;
  /** Request headers it uses, beyond those that all routes use. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: BodyDescription;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Possible errors, beyond those of every route. */
  readonly errors?: readonly ErrorCode[];
  /** Returns the body of the answer, or `undefined` if it has answered through `ctx`. */
  readonly handle: (ctx: Context, call: Call<never, never>) => unknown;
}

interface TypedRoute<Params extends TObject, Query extends TObject> extends Omit<
  Route,
  "params" | "query" | "handle"
> {
  readonly params?: Params;
  readonly query?: Query;
  readonly handle: (ctx: Context, call: Call<ValueOf<Params>, ValueOf<Query>>) => unknown;
}

/** A row of the route table; the schemas of `params` and `query` type the handler. */
export function route<Params extends TObject, Query extends TObject>(
  row: TypedRoute<Params, Query>,
): Route {
  return row;
}

/**
 * The operation id of a route that a plugin contributes: `GET /tides/:place` is `getTidesByPlace`. It depends on nothing
 * else. Paths whose ids would look the same, such as `/a-b` and `/a/b`, differ by a hash at the end.
 */
export function operationIdOf(method: Route["method"], path: string): string {
  const parts = path.split("/").slice(1);
  const isPlain = parts.every((part) => part !== "by" && /^:?[a-z][a-z0-9]*$/.test(part));
  if (!isPlain) return longOperationId(method, path);
  return method.toLowerCase() + parts.map(wordOf).join("");
}

/** An operation id that no other operation has: the host's own have no hash. */
export function longOperationId(method: Route["method"], path: string): string {
  const words = path.split("/").map(wordOf).join("");
  const hash = createHash("sha256").update(`${method} ${path}`).digest("hex").slice(0, 8);
  return `${method.toLowerCase()}${words}_${hash}`;
}

/** `:place` is `ByPlace`, `garden-log` is `GardenLog`. */
function wordOf(part: string): string {
  const words = part.replace(/^:/, "by-").split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** The answer of an operation that returns one JSON document. */
export function jsonAnswer(description: string, schema: TSchema): Route["answers"] {
  return { 200: { description, schema } };
}
