import { isDeepStrictEqual } from "node:util";
import { Type } from "typebox";
import { isAuthenticated } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { openApiDocument } from "../openapi.ts";
import { challenge } from "../problem.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { contributedEvents } from "./channel-paths.ts";

const Discovery = Type.Object({
  name: Type.Literal("mantel"),
  version: Type.String(),
  prefix: Type.String(),
  versions: Type.Array(
    Type.Object({
      version: Type.String(),
      prefix: Type.String(),
      status: Type.Enum(["current", "deprecated"]),
    }),
  ),
  links: Type.Object({
    openapi: Type.String(),
    docs: Type.String(),
    health: Type.String(),
    events: Type.String(),
  }),
});

const OpenApi = Type.Object({
  openapi: Type.String(),
  info: Type.Object({}),
  servers: Type.Array(Type.Object({ url: Type.String() })),
  tags: Type.Array(Type.Object({ name: Type.String() })),
  paths: Type.Object({}),
  components: Type.Object({}),
});

interface DiscoveryDependencies extends HttpDependencies {
  readonly prefix: string;
  /** HTML. */
  readonly docsPage: string;
  /** The whole table, which contains these routes too. */
  readonly table: () => readonly Route[];
  /** Operations that running plugins add. */
  readonly contributed: () => readonly Route[];
}

/** The API's prefix, and its documentation for programs and users. */
export function discoveryRoutes(parts: DiscoveryDependencies): Route[] {
  return [prefixRoute(parts), documentRoute(parts), pageRoute(parts)];
}

function prefixRoute({ version, prefix }: DiscoveryDependencies): Route {
  return route({
    method: "GET",
    path: "/api",
    operationId: "getApi",
    outsidePrefix: true,
    scope: "public",
    tag: "API",
    summary: "Find the prefix of the API",
    answers: jsonAnswer("The prefix in use, and further addresses", Discovery),
    handle: () => ({
      name: "mantel",
      version,
      prefix,
      versions: [{ version: "v1", prefix, status: "current" }],
      links: {
        openapi: `${prefix}/openapi.json`,
        docs: `${prefix}/docs`,
        health: `${prefix}/health`,
        events: `${prefix}/events`,
      },
    }),
  });
}

function documentRoute(parts: DiscoveryDependencies): Route {
  const { version, prefix, table, contributed } = parts;
  let last: { readonly of: unknown; readonly text: string } | undefined;
  return route({
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApi",
    scope: "read",
    tag: "API",
    summary: "Read this document",
    answers: jsonAnswer("OpenAPI 3.1", OpenApi),
    handle(ctx) {
      const added = contributed();
      const events = contributedEvents(parts);
      const of = [events, added.map(shapeOf)];
      if (!isDeepStrictEqual(last?.of, of)) {
        const routes = [...table(), ...added];
        const text = JSON.stringify(openApiDocument({ version, prefix, routes, events }));
        last = { of, text };
      }
      ctx.body = last?.text;
      ctx.type = "application/json";
    },
  });
}

/** The parts of a route that the document shows. */
function shapeOf(contributed: Route): object {
  return { ...contributed, handle: undefined };
}

function pageRoute({ tokens, docsPage }: DiscoveryDependencies): Route {
  return route({
    method: "GET",
    path: "/docs",
    operationId: "getDocs",
    scope: "public",
    tag: "API",
    summary: "Read and try the API in a browser",
    answers: {
      200: { description: "The page", type: "text/html" },
      401: {
        description: "The same page, which asks for a token because the request had none",
        type: "text/html",
      },
    },
    // A browser opens a page without a token. This page has no data, only a field for the token.
    handle(ctx) {
      ctx.status = isAuthenticated(ctx, tokens) ? 200 : 401;
      if (ctx.status === 401) ctx.set("WWW-Authenticate", challenge(ctx));
      ctx.body = docsPage;
      ctx.type = "text/html; charset=utf-8";
    },
  });
}
