import { MantelError } from "@mantel/plugin-sdk/errors";
import { hasRoutes, type Manifest } from "@mantel/plugin-sdk/manifest";
import {
  ROUTE_LIMITS,
  ROUTE_METHODS,
  ROUTE_PATH,
  type RouteDefinition,
  routeFault,
  routeKey,
  routePath,
} from "@mantel/plugin-sdk/route";
import { Strict } from "@mantel/plugin-sdk/schema";
import { SERVICE_SCOPES } from "@mantel/plugin-sdk/service";
import { Type } from "typebox";
import { isObject } from "../config/document.ts";
import { requireSafeSchema } from "../config/option-schema.ts";
import { check } from "../validate.ts";

/** Characters of JSON of all routes of one plugin. */
const LONGEST = 2 ** 19;
const SCHEMAS = ["params", "query", "body", "response"] as const;

const Path = Type.String({ pattern: ROUTE_PATH, maxLength: ROUTE_LIMITS.pathLength });
const Definition = Type.Object(
  {
    method: Type.Enum([...ROUTE_METHODS]),
    path: Type.Optional(Path),
    at: Type.Optional(Path),
    scope: Type.Enum([...SERVICE_SCOPES, "public"]),
    summary: Type.String({ minLength: 1, maxLength: ROUTE_LIMITS.summaryLength }),
    params: Type.Optional(Type.Unknown()),
    query: Type.Optional(Type.Unknown()),
    body: Type.Optional(Type.Unknown()),
    bodyOptional: Type.Optional(Type.Boolean()),
    response: Type.Optional(Type.Unknown()),
    raw: Type.Optional(Type.Boolean()),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: ROUTE_LIMITS.mostRawBytes })),
    headers: Type.Optional(
      Type.Array(Type.String({ pattern: "^[a-z0-9-]{1,60}$" }), { maxItems: ROUTE_LIMITS.headers }),
    ),
    secretInPath: Type.Optional(Type.Boolean()),
  },
  Strict,
);
const Definitions = Type.Array(Definition, { maxItems: ROUTE_LIMITS.routes });

/**
 * Checks the routes that a plugin's process reported at its start.
 * @throws MantelError `invalid` for a wrong route, one at a path that the manifest does not list, two with one address,
 * and a schema that would take long to check
 */
export function parseRoutes(
  given: unknown,
  { id, paths = {} }: Pick<Manifest, "id" | "paths">,
): readonly RouteDefinition[] {
  if ((JSON.stringify(given)?.length ?? 0) > LONGEST) {
    throw new MantelError("invalid", `the routes of ${id} have more than ${LONGEST} characters`);
  }
  const seen = new Set<string>();
  const routes = check(Definitions, given, `the list of routes of ${id}`) as RouteDefinition[];
  for (const route of routes) {
    const key = routeKey(route);
    const fault = routeFault(route) ?? pathFault(route, paths) ?? schemaFault(route);
    if (fault !== undefined)
      throw new MantelError("invalid", `invalid route ${key} of ${id}: ${fault}`);
    const address = key.replaceAll(/:\w+/g, ":");
    if (seen.has(address)) throw new MantelError("invalid", `${id} has two routes at ${key}`);
    seen.add(address);
    for (const name of SCHEMAS) requireSafeSchema(route[name], `the schema ${name} of ${key}`);
  }
  return routes;
}

function pathFault(
  { at = "" }: RouteDefinition,
  paths: NonNullable<Manifest["paths"]>,
): string | undefined {
  const first = at.replace(/^(\/[^/]*).*$/, "$1");
  const claim = paths[first];
  if (first === "" || (claim && hasRoutes(claim))) return undefined;
  return `add "paths": {"${first}": {"routes": true}} to "mantel" in its package.json`;
}

/** The reason why the schemas of the path and the query cannot be read, as the rest of a sentence. */
function schemaFault({ params, query, ...route }: RouteDefinition): string | undefined {
  for (const [name, schema] of Object.entries({ params, query })) {
    const properties: unknown = schema?.properties;
    const isFlat = isObject(properties) && Object.values(properties).every(isObject);
    if (schema !== undefined && !isFlat) return `${name} is not an object of schemas`;
  }
  const named: readonly string[] = routePath(route).match(/(?<=:)\w+/g) ?? [];
  if (new Set(named).size < named.length) return "two parameters have one name";
  const missing = Object.keys(params?.properties ?? {}).find((each) => !named.includes(each));
  return missing && `params has ${missing}, which the path does not have`;
}
