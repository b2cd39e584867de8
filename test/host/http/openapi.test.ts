import assert from "node:assert/strict";
import { test } from "node:test";
import type { TSchema } from "typebox";
import { ConfigPatch } from "../../../host/config/schema.ts";
import { openApiDocument } from "../../../host/http/openapi.ts";
import type { Route } from "../../../host/http/route.ts";
import { createRouting } from "../../../host/http/router.ts";
import { createRoutes } from "../../../host/http/routes/index.ts";
import { faultsOf } from "../../../host/validate.ts";
import { json, serveApp } from "./serve-app.ts";

type Operation = {
  operationId: string;
  security: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: {
    required: boolean;
    content: Record<string, { schema: { required?: string[] } }>;
  };
  responses: Record<
    string,
    { content?: Record<string, { schema?: object }>; headers?: Record<string, object> }
  >;
};
type Document = { openapi: string; paths: Record<string, Record<string, Operation>> };

test("the document lists every route of the table, with its scope and its parameters", async (t) => {
  const { api, parts } = await serveApp(t);
  const table = createRoutes({
    ...parts,
    prefix: "/api/v1",
    docsPage: "",
    contributed: () => [],
    metrics: {} as never,
  });

  const response = await api("read", "/openapi.json");

  const { openapi, paths } = (await response.json()) as Document;
  assert.equal(openapi, "3.1.0");
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  assert.equal(operations.length, table.length);
  assert.equal(
    new Set(operations.map(({ operation }) => operation.operationId)).size,
    table.length,
  );
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const named = operation.parameters
      ?.filter((each) => each.in === "path")
      .map(({ name }) => name);
    assert.deepEqual(named ?? [], inPath, path);
  }
  assert.deepEqual(paths["/api/v1/mqtt/publish"]?.["post"]?.security, [
    { token: ["admin"] },
    { session: ["admin"] },
  ]);
  const open = operations.filter(({ operation }) => operation.security.length === 0);
  assert.deepEqual(
    open.map(({ method, path }) => `${method} ${path.replace("/api/v1", "")}`),
    [
      ...["get /api", "get /docs", "get /health", "get /calendar/feeds/{secret}.ics"],
      "get /languages/{locale}",
      ...["post /session", "post /pairing", "post /pairing/token"],
    ],
  );
});

test("the document lists the meaningful headers of requests and answers", async (t) => {
  const { api } = await serveApp(t);

  const { paths } = (await (await api("read", "/openapi.json")).json()) as Document;

  const patch = paths["/api/v1/config"]?.["patch"];
  assert.deepEqual(
    patch?.parameters?.map(({ name, in: place }) => [name, place]),
    [["If-Match", "header"]],
  );
  assert.ok(paths["/api/v1/channels/{plugin}/{name}"]?.["get"]?.responses["304"]);
  assert.ok(
    paths["/api/v1/smart-home/devices/{id}/command"]?.["post"]?.responses["409"]?.headers?.[
      "Retry-After"
    ],
  );
});

test("a patch of the config is described key by key", () => {
  const good = { ui: { theme: null, idleSeconds: 60 }, server: { rateLimit: { burst: 5 } } };

  assert.deepEqual(faultsOf(ConfigPatch, { ...good, log: null, hue: { address: "10.0.0.5" } }), []);
  assert.equal(faultsOf(ConfigPatch, { ui: { theme: "pink" } }).length, 1);
});

test("every reference in the document resolves", async (t) => {
  const { api } = await serveApp(t);

  const document = (await (await api("read", "/openapi.json")).json()) as {
    components: { schemas: Record<string, object> };
  };

  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const names = new Set([...references].map(([, name]) => name ?? ""));
  assert.ok(names.has("Device") && names.has("Problem"));
  for (const name of names) assert.ok(document.components.schemas[name], name);
});

test("answers match the OpenAPI document", async (t) => {
  const { api, parts } = await serveApp(t);
  const scene = { name: "Movie", targets: { "demo:light:1": { on: true } } };
  await parts.devices.adjust("demo:light:1", { room: "Hall" });
  const requests: [string, RequestInit][] = [
    ["/smart-home/devices", {}],
    ["/smart-home/devices/demo:light:1", {}],
    ["/smart-home/devices/demo:light:1/command", json("POST", { brightness: 62.5 })],
    ["/rooms/Hall/command", json("POST", { on: true })],
    ["/smart-home/scenes/host:scene:movie", json("PUT", scene)],
    ["/smart-home/scenes", {}],
    ["/smart-home/scenes/order", json("PUT", { scenes: ["host:scene:movie"] })],
    ["/smart-home/scenes/host:scene:movie", {}],
    ["/smart-home/scenes/host:scene:movie/activate", json("POST", {})],
    ["/mqtt/publish", json("POST", { topic: "a/b", payload: "1" })],
    ["/calendar/feeds", json("POST", { name: "phone" })],
    ["/calendar/feeds", {}],
    ["/health", {}],
    ["/health/ready", {}],
    ["/config", {}],
    ["/config", json("PATCH", { ui: { theme: "dark" } })],
    ["/layout", {}],
    ["/layout", json("PUT", parts.layout.current)],
    ["/layout/history", {}],
    ["/modules", {}],
    ["/modules/demo", {}],
    ["/modules/demo/logs", {}],
    ["/modules/demo/reload", json("POST", {})],
    ["/modules/demo/rollback", json("POST", {})],
    ["/modules/demo/disable", json("POST", {})],
  ];
  const table = createRoutes({
    ...parts,
    prefix: "",
    docsPage: "",
    contributed: () => [],
    metrics: {} as never,
  });

  for (const [path, init] of requests) {
    const response = await api("admin", path, init);
    const answer: unknown = await response.json();

    const { answers } = matching(table, init.method ?? "GET", path);
    const schema = answers[response.status]?.schema as TSchema;
    assert.ok(schema, `${path} answered ${response.status} ${JSON.stringify(answer)}`);
    assert.deepEqual(faultsOf(schema, answer), [], path);
  }
});

test("a route that declares no scope does not start", () => {
  const open = { method: "GET", path: "/open", handle: () => ({}) } as unknown as Route;

  assert.throws(
    () => createRouting([open], "/api/v1", {} as never),
    /GET \/open declares no scope/,
  );
});

test("the document of an empty route table is valid", () => {
  const document = openApiDocument({ version: "1.0.0", prefix: "/api/v1", routes: [] });

  assert.deepEqual((document as Document).paths, {});
});

function matching(table: readonly Route[], method: string, path: string): Route {
  const found = table.find(
    (route) =>
      route.method === method && new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path),
  );
  assert.ok(found, `${method} ${path}`);
  return found;
}

test("every operation with a body documents the refusal of the body", async (t) => {
  const { api } = await serveApp(t);

  const { paths } = (await (await api("read", "/openapi.json")).json()) as Document;

  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      const isTold = "413" in responses && "415" in responses;
      assert.equal(isTold, method !== "get", `${method} ${path}`);
    }
  }
});

test("fields with a default are optional in a body, also in the document", async (t) => {
  const { api } = await serveApp(t);

  const { paths } = (await (await api("read", "/openapi.json")).json()) as Document;
  const issued = await api("admin", "/tokens", json("POST", { name: "a", scope: ["read"] }));
  const rotated = await api("admin", "/tokens/rotate", { method: "POST" });

  assert.deepEqual([issued.status, rotated.status], [201, 200]);
  const tokens = paths["/api/v1/tokens"]?.["post"]?.requestBody;
  const rotation = paths["/api/v1/tokens/rotate"]?.["post"]?.requestBody;
  assert.deepEqual(tokens?.content["application/json"]?.schema.required, ["name", "scope"]);
  assert.deepEqual([tokens?.required, rotation?.required], [true, false]);
});
