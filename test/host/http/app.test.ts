import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import type { Route } from "../../../host/http/route.ts";
import { createRoutes } from "../../../host/http/routes/index.ts";
import { json, rawStatus, serveApp } from "./serve-app.ts";

const PUBLIC = [
  "GET /api",
  "GET /calendar/feeds/:secret.ics",
  "GET /docs",
  "GET /health",
  "GET /languages/:locale",
  "POST /pairing",
  "POST /pairing/token",
  "POST /session",
];
const BELOW = { read: null, control: "read", edit: "control", admin: "edit" } as const;

test("every route but the public ones refuses a request without a token", async (t) => {
  const { url, parts } = await serveApp(t);

  const answered = await Promise.all(
    tableOf(parts).map(async (route) => {
      const response = await fetch(url + targetOf(route), { method: route.method });
      const { code } = (await response.json().catch(() => ({}))) as { code?: string };
      return { name: nameOf(route), status: response.status, code, headers: response.headers };
    }),
  );

  const open = answered.filter(({ status }) => status !== 401).map(({ name }) => name);
  // A display that is to be let in has no token yet; it gets 422, because it has sent nothing.
  const texts = "GET /languages/:locale"; // of the page on which people sign in
  const pairing = ["POST /pairing", "POST /pairing/token"];
  assert.deepEqual(open, ["GET /api", "GET /health", texts, ...pairing]);
  for (const { name, headers, code } of answered.filter(({ status }) => status === 401)) {
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer/, name);
    if (name !== "GET /docs") assert.equal(code, "unauthorized", name);
  }
});

test("requests over one connection are authenticated one by one", async (t) => {
  const { url, token, tokens } = await serveApp(t);
  const reads = await token("read");
  const revoked = await tokens.issue({ name: "revoked", scope: ["read"], ttlSeconds: 60 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const statusWith = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const sent = request(`${url}/api/v1/smart-home/devices`, { agent, headers }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    ports.add(response.socket.localPort);
    await once(response.resume(), "end");
    return response.statusCode;
  };

  const before = await statusWith(`Bearer ${revoked}`);
  await tokens.revoke("revoked");
  const statuses = [];
  for (const each of [revoked, reads, reads, `${reads}x`, undefined, reads])
    statuses.push(await statusWith(each && `Bearer ${each}`));

  assert.equal(before, 200);
  assert.deepEqual(statuses, [401, 200, 200, 401, 401, 200]);
  assert.equal(ports.size, 1);
});

test("every route refuses a token with the next lower scope", async (t) => {
  const { url, parts, token } = await serveApp(t);
  const guarded = tableOf(parts).filter(({ scope }) => scope !== "public" && scope !== "read");

  const refused = await Promise.all(
    guarded.map(async (route) => {
      const below = BELOW[route.scope as "control" | "edit" | "admin"];
      const authorization = `Bearer ${await token(below)}`;
      const init = { method: route.method, headers: { authorization } };
      const response = await fetch(url + targetOf(route), init);
      return [nameOf(route), response.status, ((await response.json()) as { code: string }).code];
    }),
  );

  assert.ok(refused.length >= 12);
  assert.deepEqual(
    refused,
    guarded.map((route) => [nameOf(route), 403, "insufficient_scope"]),
  );
});

test("only the listed routes are public", async (t) => {
  const { parts } = await serveApp(t);

  const open = tableOf(parts).filter(({ scope }) => scope === "public");

  assert.deepEqual(open.map(nameOf).toSorted(), PUBLIC);
});

test("a token counts in the Authorization header alone, and only when there is one", async (t) => {
  const { url, token } = await serveApp(t);
  const good = await token("admin");
  const requests: [string, Record<string, string | string[]>][] = [
    [`/api/v1/config?token=${good}`, {}],
    [`/api/v1/config?access_token=${good}`, {}],
    ["/api/v1/config", { cookie: `token=${good}` }],
    ["/api/v1/config", { "x-authorization": `Bearer ${good}` }],
    ["/api/v1/config", { authorization: good }],
    ["/api/v1/config", { authorization: `Basic ${good}` }],
    ["/api/v1/config", { authorization: `Bearer ${good}, Bearer ${good}` }],
    ["/api/v1/config", { authorization: [`Bearer ${good}`, `Bearer ${good}`] }],
    ["/api/v1/config", { authorization: "Bearer" }],
  ];

  const statuses = await Promise.all(
    requests.map(([target, headers]) => rawStatus(url, target, headers)),
  );
  const asMeant = await rawStatus(url, "/api/v1/config", { authorization: `bearer ${good}` });

  assert.deepEqual(
    statuses,
    requests.map(() => 401),
  );
  assert.equal(asMeant, 200);
});

test("unusual spellings of a path are refused", async (t) => {
  const { url, token } = await serveApp(t);
  const authorization = `Bearer ${await token("admin")}`;
  const spellings = [
    "/API/v1/config",
    "/api/V1/config",
    "/api/v1/Config",
    "/api/v1/config/",
    "//api/v1/config",
    "/api//v1/config",
    "/api/v1/./config",
    "/api/v1/x/../config",
    "/api/v1/%63onfig",
    "/api/v1%2fconfig",
    "/api/v1/config;x=1",
    "/api/v1/config%00",
    "/api/v1/config%20",
    "/api/config",
  ];

  const statuses = await Promise.all(
    spellings.map((target) => rawStatus(url, target, { authorization })),
  );
  const asWritten = await rawStatus(url, "/api/v1/config", { authorization });

  assert.deepEqual(
    statuses,
    spellings.map(() => 404),
  );
  assert.equal(asWritten, 200);
});

test("a colon in an id may come as %3A, and a broken escape is refused", async (t) => {
  const { url, api, token } = await serveApp(t);
  const authorization = `Bearer ${await token("read")}`;

  const plain = await api("read", "/smart-home/devices/demo:light:1");
  const escaped = await api("read", "/smart-home/devices/demo%3Alight%3a1");
  const broken = await rawStatus(url, "/api/v1/smart-home/devices/%ZZ", { authorization });

  assert.equal(plain.status, 200);
  assert.deepEqual(await escaped.json(), await plain.json());
  assert.equal(broken, 400);
});

test("a malformed id gives 400, an unknown one 404", async (t) => {
  const { api } = await serveApp(t);
  const paths = {
    "/smart-home/devices/lamp": [400, "bad_id"],
    "/smart-home/devices/demo:light:0": [400, "bad_id"],
    "/smart-home/devices/..%2f..%2fkeys": [400, "bad_id"],
    "/smart-home/devices/demo:light:2": [404, "device_unknown"],
    "/smart-home/scenes/x": [400, "bad_id"],
    "/smart-home/scenes/host:scene:x": [404, "scene_unknown"],
    "/modules/__proto__": [400, "bad_id"],
    "/modules/constructor": [404, "module_unknown"],
    "/nothing": [404, "not_found"],
  };

  const answers = await Promise.all(
    Object.keys(paths).map(async (path) => {
      const response = await api("read", path);
      return [path, [response.status, ((await response.json()) as { code: string }).code]];
    }),
  );

  assert.deepEqual(Object.fromEntries(answers), paths);
});

test("a method that a path does not have is 405 with Allow, and OPTIONS lists them", async (t) => {
  const { api } = await serveApp(t);

  const wrong = await api("read", "/config", { method: "DELETE" });
  const options = await api("read", "/config", { method: "OPTIONS" });
  const head = await api("read", "/config", { method: "HEAD" });
  const unknown = await api(null, "/config", { method: "DELETE" });

  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, OPTIONS, PATCH");
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "GET, HEAD, OPTIONS, PATCH");
  assert.equal(options.headers.get("access-control-allow-origin"), null);
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
  assert.equal(unknown.status, 401);
});

test("the shorter prefix serves the same routes, and GET /api says so", async (t) => {
  const { config } = await serveApp(t);
  await config.patch({ api: { prefix: "/api" } }, { admin: true });
  const { url, token } = await serveApp(t, { config });
  const headers = { authorization: `Bearer ${await token("read")}` };

  const discovery = (await (await fetch(`${url}/api`)).json()) as { prefix: string };
  const short = await fetch(`${url}/api/config`, { headers });
  const long = await fetch(`${url}/api/v1/config`, { headers });

  assert.equal(discovery.prefix, "/api");
  assert.deepEqual([short.status, long.status], [200, 404]);
});

test("an internal error is answered with 500 without its message and logged with the request id", async (t) => {
  const calendar = { events: () => Promise.reject(new Error("secret place")) };
  const { api, log } = await serveApp(t, { calendar });

  const response = await api("read", "/calendar/events");
  const text = await response.text();

  const { requestId, ...problem } = JSON.parse(text) as { requestId: string };
  assert.deepEqual(problem, {
    type: "urn:mantel:problem:internal",
    title: "Internal error; see the host's log",
    status: 500,
    detail: "internal error; see the host's log",
    code: "internal",
  });
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(response.headers.get("x-request-id"), requestId);
  const record = log.records.find(({ level }) => level === "error");
  assert.equal(record?.fields["requestId"], requestId);
  assert.match(String(record?.fields["error"]), /secret place/);
});

test("neither tokens nor queries reach the log", async (t) => {
  const { api, log, token } = await serveApp(t);

  await api("admin", "/config?token=query-canary", json("PATCH", { ui: { theme: "dark" } }));

  const written = JSON.stringify(log.records);
  assert.match(written, /"path":"\/api\/v1\/config"/);
  assert.ok(!written.includes(await token("admin")));
  assert.ok(!written.includes("query-canary"));
});

function tableOf(parts: Awaited<ReturnType<typeof serveApp>>["parts"]): readonly Route[] {
  return createRoutes({
    ...parts,
    prefix: "/api/v1",
    docsPage: "",
    contributed: () => [],
    metrics: {} as never,
  });
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

function targetOf({ path, outsidePrefix }: Route): string {
  const target = path.replace(":id", "demo:light:1").replace(":revision", "1");
  return outsidePrefix ? target : `/api/v1${target}`;
}
