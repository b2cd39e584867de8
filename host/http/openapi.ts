import { CalendarEvent, CalendarSource } from "@mantel/plugin-sdk/calendar";
import { Cause } from "@mantel/plugin-sdk/cause";
import { Capability, CommandBody, Device } from "@mantel/plugin-sdk/device";
import { type ErrorCode, errorTable } from "@mantel/plugin-sdk/errors";
import { Scene } from "@mantel/plugin-sdk/scene";
import { SentenceSchema } from "@mantel/plugin-sdk/schema";
import { type TObject, type TSchema, Type } from "typebox";
import { LayoutDocument, LayoutRevision } from "../api/layout.ts";
import { ModuleView, ReloadResult, WidgetView } from "../api/module.ts";
import { FoundPackage, Operation, PluginView } from "../api/plugin.ts";
import { SCOPES } from "../auth/scopes.ts";
import { BridgeView } from "../devices/bridge.ts";
import { Activation, SceneBody } from "../scenes/schema.ts";
import { type EventSchemas, StreamEvent, streamEvents } from "./event-schema.ts";
import { PROBLEM_TYPE } from "./problem.ts";
import type { Answer, BodyDescription, RequestHeader, Route } from "./route.ts";
import { pathOf } from "./router.ts";

const CodeLocation = Type.Object({
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  frame: Type.String(),
});
const Problem = Type.Object({
  type: Type.String({ format: "uri" }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.Enum(errorTable().map(({ code }) => code)),
  requestId: Type.String(),
  errors: Type.Optional(
    Type.Array(
      Type.Object({ pointer: Type.String({ format: "json-pointer" }), detail: Type.String() }),
    ),
  ),
  retryAfterMs: Type.Optional(Type.Number()),
  /** For `service_error`: the code that the service's provider gave. */
  serviceError: Type.Optional(Type.String()),
  /** The detail in a form that language packs can translate; some plugins give it. */
  sentence: Type.Optional(SentenceSchema),
  /** Config keys that were refused. */
  keys: Type.Optional(Type.Array(Type.String())),
  /** For a failed reload: true if the old code continues. */
  rolledBack: Type.Optional(Type.Boolean()),
  ...Type.Partial(CodeLocation).properties,
  location: Type.Optional(CodeLocation),
});

/** Schemas that the document contains once, by their names in it. */
const COMPONENTS: ReadonlyMap<TSchema, string> = new Map<TSchema, string>([
  [Problem, "Problem"],
  [Cause, "Cause"],
  [Device, "Device"],
  [Capability, "Capability"],
  [CommandBody, "Command"],
  [BridgeView, "Bridge"],
  [Scene, "Scene"],
  [SceneBody, "SceneInput"],
  [Activation, "SceneActivation"],
  [ModuleView, "Module"],
  [WidgetView, "Widget"],
  [ReloadResult, "ReloadResult"],
  [PluginView, "Plugin"],
  [Operation, "PluginOperation"],
  [FoundPackage, "FoundPackage"],
  [LayoutDocument, "Layout"],
  [LayoutRevision, "LayoutRevision"],
  [CalendarEvent, "CalendarEvent"],
  [CalendarSource, "CalendarSource"],
  [StreamEvent, "Event"],
]);

/** The names of schemas that are written as a reference. A cause in a cause has the same form. */
const REFERENCES: ReadonlyMap<TSchema, string> = new Map([
  ...COMPONENTS,
  [Cause.properties.parent, "Cause"],
]);

const HEADERS: Readonly<Record<RequestHeader, string>> = {
  "If-Match": "The ETag of the revision to change; refused if it is stale",
  "If-None-Match": "The ETag of the revision that the client has",
  "Last-Event-ID": "The id of the last received event; the events after it are sent again",
  Prefer: "`respond-async` is answered at once, without waiting for the bridge",
};
const RETRIED = new Set([409, 429, 503]);
const CHALLENGED = new Set([401, 403]);
/** Headers of answers. Those for browsers and of HTTP itself are omitted. */
const ANSWER_HEADERS = {
  "X-Request-Id": header("The request id in the log"),
  "Retry-After": header("Seconds", Type.Integer({ minimum: 1 })),
  "WWW-Authenticate": header("The required authentication (RFC 6750)"),
  ETag: header("The revision, for If-Match and If-None-Match"),
} as const;

/** Errors of every route, and those that follow from the form of a route. */
const ALWAYS: readonly ErrorCode[] = [
  "bad_request",
  "request_timeout",
  "unknown_host",
  "rate_limited",
  "headers_too_large",
  "internal",
];
const WITH_SCOPE: readonly ErrorCode[] = ["unauthorized", "origin_refused", "insufficient_scope"];
const WITH_BODY: readonly ErrorCode[] = ["body_too_large", "unsupported_media_type"];

/** The OpenAPI 3.1 document of a route table, and of the events that plugins add. */
export function openApiDocument(api: {
  version: string;
  prefix: string;
  routes: readonly Route[];
  events?: EventSchemas;
}): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of api.routes) {
    const path = pathOf(route, api.prefix).replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Mantel",
      version: api.version,
      summary: "A home's devices, scenes, calendars and modules",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(api.routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: {
        ...Object.fromEntries(
          [...COMPONENTS].map(([schema, name]) => [name, withReferences(schema, schema)]),
        ),
        Event: withReferences(streamEvents(api.events ?? {})),
      },
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: `A token holds scopes; each includes those before it: ${SCOPES.join(", ")}.`,
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "mantel_session",
          description:
            "The cookie of a browser that signed in by POST /session. The port of the host is in its name (`mantel_session_8470`), and over TLS the prefix `__Host-`. A write names its own origin in the Origin header. With an Authorization header, the cookie does not count.",
        },
      },
    },
  };
}

function operation(route: Route): object {
  const { operationId, scope, tag, summary, headers = [], body } = route;
  const parameters = [
    ...parametersOf(route.params, "path"),
    ...parametersOf(route.query, "query"),
    ...headers.map(headerParameter),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(scope === "public"
      ? { security: [] }
      : { security: [{ token: [scope] }, { session: [scope] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: { ...answers(route), ...problemAnswers(route) },
  };
}

function parametersOf(schema: TObject | undefined, place: "path" | "query"): object[] {
  if (!schema) return [];
  const required: readonly string[] = schema.required ?? [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }));
}

function headerParameter(name: RequestHeader): object {
  return { name, in: "header", description: HEADERS[name], schema: Type.String() };
}

function requestBody({ schema, mergePatch, raw, optional = false }: BodyDescription): object {
  if (raw) return { required: !optional, content: { "*/*": {} } };
  const media = { schema: withOptionalDefaults(withReferences(schema)) };
  return {
    required: !optional,
    content: {
      "application/json": media,
      ...(mergePatch ? { "application/merge-patch+json": media } : {}),
    },
  };
}

/** Makes properties with a default optional, as in a request. */
function withOptionalDefaults(node: unknown): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map(withOptionalDefaults);
  const given = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withOptionalDefaults(value)]),
  );
  const { required, properties } = given as { required?: unknown; properties?: object };
  if (!Array.isArray(required)) return given;
  const isNeeded = (key: string): boolean => {
    const schema: unknown = Object.entries(properties ?? {}).find(([name]) => name === key)?.[1];
    return !(typeof schema === "object" && schema !== null && "default" in schema);
  };
  return { ...given, required: required.filter(isNeeded) };
}

function answers({ answers: all, headers = [] }: Route): object {
  const isRevised = headers.includes("If-None-Match") || headers.includes("If-Match");
  const usual = pick("X-Request-Id", ...(isRevised ? (["ETag"] as const) : []));
  const byStatus: Record<string, object> = {};
  for (const [status, answer] of entriesOf(all)) {
    const { description } = answer;
    const challenge = status === "401" ? pick("WWW-Authenticate") : {};
    byStatus[status] = {
      description,
      headers: { ...usual, ...challenge, ...ownHeaders(answer) },
      ...contentOf(answer),
    };
  }
  if (!headers.includes("If-None-Match")) return byStatus;
  return { ...byStatus, 304: { description: "Not modified", headers: usual } };
}

function ownHeaders({ headers = {} }: Answer): object {
  const described = Object.entries(headers).map(([name, about]) => [name, header(about)] as const);
  return Object.fromEntries(described);
}

function contentOf({ schema, type = schema && "application/json" }: Answer): object {
  if (!type) return {};
  return { content: { [type]: schema ? { schema: withReferences(schema) } : {} } };
}

const entriesOf = (all: Route["answers"]): [string, Answer][] => Object.entries(all);

/** One answer for each status, with the codes it may have. */
function problemAnswers({ method, scope, params, errors = [], answers: good }: Route): object {
  const codes = new Set<ErrorCode>([
    ...ALWAYS,
    ...(scope === "public" ? [] : WITH_SCOPE),
    ...(params ? (["bad_id"] as const) : []),
    ...(method === "GET" ? [] : WITH_BODY),
    ...errors,
  ]);
  const byStatus: Record<number, object> = {};
  for (const { status } of errorTable()) {
    const here = errorTable().filter((each) => each.status === status && codes.has(each.code));
    if (here.length === 0 || good[status]) continue;
    byStatus[status] = {
      description: here.map(({ code, title }) => `\`${code}\`: ${title}`).join("; "),
      headers: pick(
        "X-Request-Id",
        ...(RETRIED.has(status) ? (["Retry-After"] as const) : []),
        ...(CHALLENGED.has(status) ? (["WWW-Authenticate"] as const) : []),
      ),
      content: { [PROBLEM_TYPE]: { schema: withReferences(Problem) } },
    };
  }
  return byStatus;
}

function header(description: string, schema: TSchema = Type.String()): object {
  return { description, schema };
}

function pick(...names: (keyof typeof ANSWER_HEADERS)[]): object {
  return Object.fromEntries(names.map((name) => [name, ANSWER_HEADERS[name]]));
}

/** A copy of a schema in which every component except `whole` is a reference. */
function withReferences(node: unknown, whole?: TSchema): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((each) => withReferences(each));
  const name = node === whole ? undefined : REFERENCES.get(node);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withReferences(value)]),
  );
}
