import type { ErrorCode } from "@mantel/plugin-sdk/errors";
import type Koa from "koa";
import type { Static, TObject, TSchema } from "typebox";
import type { Scope } from "../auth/scopes.ts";
import type { Principal } from "../auth/tokens.ts";

/** What middleware notes on a request for the ones after it. */
export interface RequestState {
  requestId: string;
  /** What a configured proxy says it was asked for. */
  forwardedHost?: string;
  /** The pattern of the route that matched, for metrics and logs. */
  route?: string;
  /** Who sent it; absent on public routes. */
  principal?: Principal;
}
export type Context = Koa.ParameterizedContext<RequestState>;
export type Middleware = (ctx: Context, next: () => Promise<void>) => Promise<void> | void;

/** A checked request, as a route's handler gets it. */
export interface Call<Params, Query> {
  readonly params: Params;
  readonly query: Query;
  /** Parsed JSON, `undefined` when there was none. The part behind the route checks it. */
  readonly body: unknown;
  readonly principal: Principal;
}

export interface Answer {
  readonly description: string;
  /** Absent for an answer without JSON. */
  readonly schema?: TSchema;
  /** Absent means `application/json`. */
  readonly type?: string;
  /** Descriptions of headers it has, beyond those that follow from the route's form. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The JSON body a route takes. */
export interface BodyDescription {
  readonly schema: TSchema;
  /** Absent means 64 KiB. */
  readonly maxBytes?: number;
  /** True when no body at all means one of defaults. */
  readonly optional?: boolean;
  /** True for a JSON Merge Patch (RFC 7396), which may come under its own media type. */
  readonly mergePatch?: boolean;
}

export type RequestHeader = "If-Match" | "If-None-Match" | "Last-Event-ID" | "Prefer";

/**
 * One operation of the API. From the same table come the router, the checks and the OpenAPI document,
 * so that none of them can say something else.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the prefix; parameters as `:name`. */
  readonly path: string;
  /** True for a path that stands by itself and not below the prefix. */
  readonly outsidePrefix?: boolean;
  readonly scope: Scope | "public";
  readonly tag: string;
  /** A few words, for the list of operations. */
  readonly summary: string;
  /** Patterns of the path's parameters. A fault is 400 `bad_id`. */
  readonly params?: TObject;
  /** Texts, or arrays of texts for what may be repeated or joined by commas. A fault is 422. */
  readonly query?: TObject;
  /** Request headers it heeds, beyond those that all do. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: BodyDescription;
  readonly answers: Readonly<Record<number, Answer>>;
  /** What it may fail with, beyond what every route may. */
  readonly errors?: readonly ErrorCode[];
  /** Gives the body of the answer, or `undefined` when it has answered through `ctx`. */
  readonly handle: (ctx: Context, call: Call<never, never>) => unknown;
}

interface TypedRoute<Params extends TObject, Query extends TObject> extends Omit<
  Route,
  "params" | "query" | "handle"
> {
  readonly params?: Params;
  readonly query?: Query;
  readonly handle: (ctx: Context, call: Call<Static<Params>, Static<Query>>) => unknown;
}

/** A row of the route table; the schemas of `params` and `query` give the types of the handler. */
export function route<Params extends TObject, Query extends TObject>(
  row: TypedRoute<Params, Query>,
): Route {
  return row;
}

/** The answer of an operation that gives one JSON document. */
export function ok(description: string, schema: TSchema): Route["answers"] {
  return { 200: { description, schema } };
}
