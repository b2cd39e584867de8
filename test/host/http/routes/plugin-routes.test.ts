import assert from "node:assert/strict";
import { appendFile, type FileHandle, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { defineRoute, Type } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type ReadyAnswer, readyAnswer } from "../../../../host/routes/answer-file.ts";
import type { RouteInput } from "../../../../host/routes/raw-body.ts";
import type { RoutedPlugin } from "../../../../host/routes/routed-plugin.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { demoModules, json, serveApp } from "../serve-app.ts";

const feed = defineRoute({
  method: "POST",
  path: "/feeds/:name",
  scope: "control",
  summary: "Add to a feed",
  params: Type.Object({ name: Type.String({ maxLength: 5 }) }),
  query: Type.Object({ at: Type.Optional(Type.String({ pattern: "^[0-9]+$" })) }),
  body: Type.Object({ title: Type.String() }),
  response: Type.Object({ ok: Type.Boolean() }),
});
const hook = defineRoute({
  method: "POST",
  path: "/pushed",
  scope: "public",
  summary: "Receive a push",
  raw: true,
  maxBytes: 10,
  headers: ["x-signature"],
  secretInPath: true,
});
const place = defineRoute({
  method: "GET",
  at: "/tides/:place",
  scope: "control",
  summary: "Read the tides of a place",
  headers: ["if-none-match"],
});
const moon = defineRoute({
  method: "PUT",
  at: "/tides/moon",
  scope: "edit",
  summary: "Set the moon",
});
const picture = defineRoute({
  method: "GET",
  path: "/pictures/:name",
  scope: "read",
  summary: "Read a picture",
  headers: ["if-none-match"],
});
const OK: ReadyAnswer = {
  status: 200,
  headers: {},
  type: "application/json",
  body: Buffer.from('{"ok":true}'),
};

/** An app with a plugin that contributes routes. */
async function open(t: TestContext, answer: () => ReadyAnswer | Promise<ReadyAnswer> = () => OK) {
  const calls: RouteInput[] = [];
  const news: RoutedPlugin = {
    id: "news",
    routes: [feed, hook],
    answer: async (_, call) => {
      calls.push(call);
      return answer();
    },
  };
  const plugins = [news];
  const modules = { ...demoModules(), routed: () => plugins };
  const app = await serveApp(t, { modules });
  const secret = await app.parts.routeSecrets.secretOf("news");
  return { ...app, calls, plugins, secret };
}
const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { code: string }).code,
];

test("a request reaches the plugin with checked parameters, query and body", async (t) => {
  const { api, calls } = await open(t);

  const answer = await api(
    "control",
    "/plugins/news/feeds/world?at=5&x=1",
    json("POST", { title: "Rain" }),
  );

  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { ok: true });
  const { id, at } = calls[0]?.cause ?? {};
  const cause = { kind: "token", id, name: "control", at };
  assert.deepEqual(calls, [
    {
      route: "POST /feeds/:name",
      params: { name: "world" },
      query: { at: "5" },
      body: { title: "Rain" },
      contentType: "",
      headers: {},
      cause,
    },
  ]);
});

test("a request that does not fit the route does not reach the plugin", async (t) => {
  const { api, calls } = await open(t);
  const post = (path: string, body: unknown, scope: "read" | "control" = "control") =>
    api(scope, `/plugins/news${path}`, json("POST", body));
  const title = { title: "Rain" };

  assert.deepEqual(await codeOf(await post("/feeds/longer", title)), [400, "bad_id"]);
  assert.deepEqual(await codeOf(await post("/feeds/world?at=x", title)), [422, "invalid"]);
  assert.deepEqual(await codeOf(await post("/feeds/world", {})), [422, "invalid"]);
  assert.deepEqual(await codeOf(await post("/feeds/world", title, "read")), [
    403,
    "insufficient_scope",
  ]);
  assert.deepEqual(await codeOf(await post("/other", title)), [404, "not_found"]);
  assert.deepEqual(await codeOf(await api("control", "/plugins/news/feeds/world")), [
    405,
    "method_not_allowed",
  ]);
  assert.deepEqual(calls, []);
});

test("a webhook needs no token at its secret address, and gets bytes and the named headers", async (t) => {
  const { url, calls, secret, log } = await open(t);
  const address = `${url}/api/v1/plugins/news/hooks/${secret}/pushed`;
  const headers = { "content-type": "text/xml", "x-signature": "abc", "x-other": "secret" };

  const answer = await fetch(address, { method: "POST", headers, body: "<x/>" });

  assert.equal(answer.status, 200);
  const [{ bytes, contentType, headers: given } = assert.fail()] = calls;
  assert.deepEqual(
    [bytes?.toString(), contentType, given],
    ["<x/>", "text/xml", { "x-signature": "abc" }],
  );
  assert.ok(!JSON.stringify(log.records).includes(secret), "the log has no secret");
});

test("a wrong secret, the address without it and a body that is too large are refused", async (t) => {
  const { url, calls, secret } = await open(t);
  const post = (path: string, body = "") =>
    fetch(`${url}/api/v1/plugins/news${path}`, { method: "POST", body });

  assert.deepEqual(await codeOf(await post(`/hooks/${"x".repeat(32)}/pushed`)), [
    401,
    "unauthorized",
  ]);
  assert.equal((await post("/pushed")).status, 404);
  assert.deepEqual(await codeOf(await post(`/hooks/${secret}/pushed`, "x".repeat(11))), [
    413,
    "body_too_large",
  ]);
  assert.deepEqual(calls, []);
});

test("an answer runs no scripts and cannot use the dashboard's cookie", async (t) => {
  const page = { ...OK, type: "text/html", body: Buffer.from("<script>1</script>") };
  const { api } = await open(t, () => page);

  const { headers } = await api(
    "control",
    "/plugins/news/feeds/world",
    json("POST", { title: "x" }),
  );

  assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*; sandbox$/);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("set-cookie"), null);
});

test("an expected failure of the plugin is a problem document", async (t) => {
  const { api } = await open(t, () => {
    throw new MantelError("not_found", "there is no feed world");
  });

  const answer = await api("control", "/plugins/news/feeds/world", json("POST", { title: "x" }));

  assert.deepEqual(await codeOf(answer), [404, "not_found"]);
});

test("routes are in the API's document as long as their plugin runs", async (t) => {
  const { api, plugins, secret } = await open(t);
  const document = async () => (await api("read", "/openapi.json")).text();

  const before = await document();
  plugins.length = 0;
  const after = await document();

  assert.match(before, /"\/api\/v1\/plugins\/news\/feeds\/\{name\}":\{"post"/);
  assert.match(before, /\/plugins\/news\/hooks\/\{secret\}\/pushed/);
  assert.ok(!before.includes(secret));
  assert.ok(!after.includes("/plugins/news/"));
});

test("the secret of a plugin stays the same, and is its own", async (t) => {
  const { parts, secret } = await open(t);

  assert.equal(await parts.routeSecrets.secretOf("news"), secret);
  assert.notEqual(await parts.routeSecrets.secretOf("mail"), secret);
  assert.deepEqual(
    [
      parts.routeSecrets.admits("news", secret),
      parts.routeSecrets.admits("mail", secret),
      parts.routeSecrets.admits("other", ""),
    ],
    [true, false, false],
  );
});

/** An app with a plugin that has routes at `/tides`. */
async function withPath(
  t: TestContext,
  answer: () => ReadyAnswer | Promise<ReadyAnswer> = () => OK,
) {
  const sea: RoutedPlugin = { id: "sea", routes: [place, moon], answer: async () => answer() };
  const plugins = [sea];
  const modules = { ...demoModules(), routed: () => plugins };
  const app = await serveApp(t, { modules });
  app.parts.apiPaths.claim("sea", { "/tides": { routes: true } });
  return { ...app, plugins, sea };
}

test("a plugin answers at its path of the API and below it, with the checks of every route", async (t) => {
  const { api, url } = await withPath(t);

  assert.deepEqual(await (await api("control", "/tides/harbour")).json(), { ok: true });
  assert.equal((await api("control", "/tides/harbour", { method: "HEAD" })).status, 200);
  assert.deepEqual(await codeOf(await api("read", "/tides/harbour")), [403, "insufficient_scope"]);
  assert.deepEqual(await codeOf(await fetch(`${url}/api/v1/tides/harbour`)), [401, "unauthorized"]);
  assert.deepEqual(await codeOf(await api("control", "/tides")), [404, "not_found"]);
  assert.deepEqual(await codeOf(await api("control", "/tidesx/harbour")), [404, "not_found"]);
  assert.equal((await api("edit", "/tides/moon", json("PUT", {}))).status, 200);
  const refused = await api("edit", "/tides/moon", { method: "DELETE" });
  assert.deepEqual(
    [refused.status, refused.headers.get("allow")],
    [405, "GET, HEAD, OPTIONS, PUT"],
  );
});

test("a path of a plugin that does not run is 503 with a time to retry, and 404 once the plugin is gone", async (t) => {
  const { api, plugins, parts, url } = await withPath(t);
  plugins.length = 0;

  const down = await api("read", "/tides/harbour");
  assert.ok(Number(down.headers.get("retry-after")) >= 1);
  assert.equal(down.headers.get("content-type"), "application/problem+json");
  assert.deepEqual(await codeOf(down), [503, "service_unavailable"]);
  assert.equal((await fetch(`${url}/api/v1/tides`)).status, 401);

  parts.apiPaths.release("sea");
  assert.deepEqual(await codeOf(await api("read", "/tides/harbour")), [404, "not_found"]);
});

test("a thing at a plugin's own path may be named like a module that does not run", async (t) => {
  const { api, parts } = await withPath(t);
  t.mock.method(parts.modules, "isStopped", (id: string) => id === "harbour");

  assert.notEqual((await api("read", "/tides/harbour/now")).status, 503);
});

test("a path below a module that does not run is 503 with a time to retry", async (t) => {
  const { api, parts, url } = await serveApp(t);
  t.mock.method(parts.modules, "isStopped", (id: string) => id === "sea");

  const down = await api("read", "/plugins/sea/tides");

  assert.ok(Number(down.headers.get("retry-after")) >= 1);
  assert.deepEqual(await codeOf(down), [503, "service_unavailable"]);
  assert.equal((await fetch(`${url}/api/v1/plugins/sea/tides`)).status, 401);
  assert.deepEqual(await codeOf(await api("read", "/plugins/lake/tides")), [404, "not_found"]);
});

test("a path with routes belongs to the first of two plugins that claim it, until that plugin is removed", async (t) => {
  const { api, plugins, parts } = await withPath(t);
  const lake = { ...OK, body: Buffer.from('{"lake":true}') };
  plugins.push({ id: "lake", routes: [place], answer: async () => lake });
  const taken = parts.apiPaths.claim("lake", { "/tides": { routes: true } });

  assert.deepEqual(
    taken.map(({ path, plugin }) => [path, plugin]),
    [["/tides", "sea"]],
  );
  assert.deepEqual(await (await api("control", "/tides/x")).json(), { ok: true });
  parts.apiPaths.release("sea");
  plugins.shift();
  assert.deepEqual(await (await api("control", "/tides/x")).json(), { lake: true });
});

test("an answer with an ETag is 304 for a client that has it", async (t) => {
  const { api } = await withPath(t, () => ({ ...OK, headers: { etag: '"7"' } }));

  const first = await api("control", "/tides/x");
  const again = await api("control", "/tides/x", { headers: { "If-None-Match": '"7"' } });

  assert.deepEqual([first.status, first.headers.get("etag")], [200, '"7"']);
  assert.equal(first.headers.get("cache-control"), "private, no-cache");
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("routes at a path are in the API's document under ids that no other operation has", async (t) => {
  const { api, plugins, parts } = await withPath(t);
  const device = defineRoute({ method: "GET", at: "/device", scope: "read", summary: "Read one" });
  plugins.push({ id: "odd", routes: [device], answer: async () => OK });
  parts.apiPaths.claim("odd", { "/device": { routes: true } });
  const { paths } = (await (await api("read", "/openapi.json")).json()) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>;
  };

  const read = paths["/api/v1/tides/{place}"]?.["get"];
  assert.deepEqual(
    [read?.operationId, read?.summary],
    ["getTidesByPlace", "Read the tides of a place"],
  );
  assert.match(JSON.stringify(read), /"304".*"503"/);
  assert.match(paths["/api/v1/device"]?.["get"]?.operationId ?? "", /^getDevice_[0-9a-f]{8}$/);
});

test("a file is sent as it was when it was opened, and closed after any answer", async (t) => {
  const path = join(await emptyFolder(t), "porch.jpg");
  await writeFile(path, "a picture");
  const handles: FileHandle[] = [];
  const app = await open(t, async () => {
    const headers = { etag: '"1"' };
    const answer = { status: 200, headers, type: "image/jpeg", file: path };
    const ready = await readyAnswer(answer, [dirname(path)]);
    if (ready.file) handles.push(ready.file.handle);
    await appendFile(path, " and more");
    return ready;
  });
  const [news = assert.fail("the app has no plugin")] = app.plugins;
  app.plugins.push({ ...news, id: "album", routes: [picture] });
  const get = (init: RequestInit) => app.api("read", "/plugins/album/pictures/porch.jpg", init);

  const whole = await get({});
  const head = await get({ method: "HEAD" });
  const known = await get({ headers: { "if-none-match": '"1"' } });
  await truncate(path);
  const empty = await get({});

  assert.deepEqual(
    [whole.status, whole.headers.get("content-type"), await whole.text()],
    [200, "image/jpeg", "a picture"],
  );
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, "18"]);
  assert.equal(known.status, 304);
  assert.deepEqual([empty.status, await empty.text()], [200, ""]);
  while (handles.some(({ fd }) => fd !== -1)) await new Promise((done) => setImmediate(done));
  assert.equal(handles.length, 4);
});
