import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { IssueRequest } from "../../../../host/auth/tokens.ts";
import { json, type ServedApp, serveApp } from "../serve-app.ts";

interface TokenView {
  readonly name: string;
  readonly scope: string[];
  readonly status: string;
  readonly lastUsedAt: string | null;
  readonly current: boolean;
}

test("a token is issued, used, listed without its text, and revoked", async (t) => {
  const app = await serveApp(t);
  const { api, url } = app;

  const made = await api("admin", "/tokens", json("POST", { name: "Küche 1", scope: ["read"] }));
  const { token, ...rest } = (await made.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  const asked = await fetch(`${url}/api/v1/config`, { headers });
  const listed = await (await api("admin", "/tokens")).text();
  const gone = await api("admin", `/tokens/${encodeURIComponent("Küche 1")}`, { method: "DELETE" });
  const refused = await fetch(`${url}/api/v1/config`, { headers });

  assert.deepEqual([made.status, asked.status, refused.status], [201, 200, 401]);
  assert.deepEqual(rest, { name: "Küche 1", scope: ["read"], ttlSeconds: 31_536_000 });
  assert.deepEqual(await gone.json(), { revoked: 1 });
  const tokens = (JSON.parse(listed) as { tokens: TokenView[] }).tokens;
  const kitchen = tokens.find(({ name }) => name === "Küche 1");
  assert.deepEqual([kitchen?.status, kitchen?.current], ["valid", false]);
  assert.ok(Date.now() - Date.parse(kitchen?.lastUsedAt ?? "") < 10_000);
  assert.deepEqual(tokens.filter(({ current }) => current).length, 1);
  for (const part of token.split(".")) assert.ok(!listed.includes(part));
});

test("revoking one of two tokens with the same name by id keeps the other valid", async (t) => {
  const app = await serveApp(t);
  const ask: IssueRequest = { name: "tablet", scope: ["read"], ttlSeconds: 60 };
  const [one, other] = [await app.tokens.issue(ask), await app.tokens.issue(ask)];
  const { jti } = app.tokens.verify(one);

  const gone = await app.api("admin", `/tokens/tablet?id=${jti}`, { method: "DELETE" });
  const again = await app.api("admin", `/tokens/tablet?id=${jti}`, { method: "DELETE" });

  assert.deepEqual(await gone.json(), { revoked: 1 });
  assert.deepEqual([again.status, await statusWith(app, one)], [404, 401]);
  assert.equal(await statusWith(app, other), 200);
});

test("an invalid token request lists all faults and issues no token", async (t) => {
  const { api, tokens } = await serveApp(t);
  await api("admin", "/config");
  const bodies = [
    {},
    { name: "", scope: ["read"] },
    { name: "a\nb", scope: ["read"] },
    { name: "x".repeat(65), scope: ["read"] },
    { name: "x", scope: [] },
    { name: "x", scope: "admin" },
    { name: "x", scope: ["root"] },
    { name: "x", scope: ["read"], ttlSeconds: 0 },
    { name: "x", scope: ["read"], ttlSeconds: 1e12 },
    { name: "x", scope: ["read"], ttlSeconds: "60" },
    { name: "x", scope: ["read"], sub: "admin" },
  ];

  const statuses = await Promise.all(
    bodies.map(async (body) => (await api("admin", "/tokens", json("POST", body))).status),
  );

  assert.deepEqual(
    statuses,
    bodies.map(() => 422),
  );
  assert.equal(tokens.list().length, 1);
});

test("an unknown token name gives 404, an invalid one 400", async (t) => {
  const { api } = await serveApp(t);

  const unknown = await api("admin", "/tokens/nobody", { method: "DELETE" });
  const bad = await api("admin", "/tokens/a%0Ab", { method: "DELETE" });

  assert.deepEqual([unknown.status, bad.status], [404, 400]);
  assert.equal(((await unknown.json()) as { code: string }).code, "token_unknown");
});

test("a rotation keeps tokens; one that drops keys invalidates them and replaces the caller's", async (t) => {
  const app = await serveApp(t);
  const other = await app.token("read");

  const kept = await app.api("admin", "/tokens/rotate", { method: "POST" });
  const asked = await app.api("read", "/config");
  const dropped = await app.api("admin", "/tokens/rotate", json("POST", { drop: true }));
  const { token } = (await dropped.json()) as { token: string };
  const old = [await statusWith(app, other), await statusWith(app, await app.token("admin"))];

  assert.deepEqual(await kept.json(), { droppedKeys: 0 });
  assert.equal(asked.status, 200);
  assert.deepEqual(old, [401, 401]);
  assert.equal(await statusWith(app, token, "/audit"), 200);
  const { exp = 0 } = claimsOf(token);
  assert.ok(exp * 1000 - Date.now() < 61_000, "it lives no longer than the one it replaces");
});

test("a display that drops the keys stays signed in as a display with renewal", async (t) => {
  const app = await serveApp(t);
  const ask: IssueRequest = { name: "wall", scope: ["admin"], ttlSeconds: 60, display: true };
  const headers = { authorization: `Bearer ${await app.tokens.issue(ask)}` };

  const dropped = await app.api(null, "/tokens/rotate", json("POST", { drop: true }, headers));
  const { token } = (await dropped.json()) as { token: string };

  assert.equal(app.tokens.verify(token).display, true);
});

test("a rotation with undocumented parameters changes nothing", async (t) => {
  const app = await serveApp(t);
  const bodies = [null, [], "drop", { drop: "yes" }, { drop: true, also: 1 }];

  const answers = await Promise.all(
    bodies.map(async (body) => app.api("admin", "/tokens/rotate", json("POST", body))),
  );

  assert.deepEqual(
    answers.map(({ status }) => status),
    bodies.map(() => 422),
  );
  assert.equal(await statusWith(app, await app.token("admin")), 200);
});

test("every change by a token is recorded without secrets, readable only by admins", async (t) => {
  const app = await serveApp(t);
  const { api } = app;
  const layout = (await (await api("read", "/layout")).json()) as { revision: number };
  const changes: [string, RequestInit][] = [
    ["/config", json("PATCH", { ui: { theme: "dark" } })],
    ["/config", json("PATCH", { mqtt: { password: "canary" } })],
    ["/modules/demo/enable", { method: "POST" }],
    ["/modules/demo/disable", { method: "POST" }],
    ["/modules/demo/reload", { method: "POST" }],
    ["/modules/demo/rollback", { method: "POST" }],
    ["/layout", json("PUT", layout)],
    [`/layout/restore/${layout.revision}`, { method: "POST" }],
    ["/smart-home/scenes/host:scene:x", json("PUT", { name: "X", targets: LAMP_ON })],
    ["/smart-home/scenes/order", json("PUT", { scenes: ["host:scene:x"] })],
    ["/smart-home/scenes/host:scene:x", { method: "DELETE" }],
    ["/mqtt/publish", json("POST", { topic: "a/b", payload: "canary" })],
    ["/tokens", json("POST", { name: "phone", scope: ["read"] })],
    ["/tokens/phone", { method: "DELETE" }],
    ["/tokens/rotate", { method: "POST" }],
  ];

  const statuses: number[] = [];
  for (const [path, init] of changes) statuses.push((await api("admin", path, init)).status);
  const read = await api("admin", "/audit?limit=1000");
  const forEditors = await api("edit", "/audit");

  assert.ok(
    statuses.every((status) => status < 300),
    statuses.join(" "),
  );
  assert.equal(forEditors.status, 403);
  const { records } = (await read.json()) as { records: { action: string; sub: string }[] };
  assert.deepEqual(records.map(({ action }) => action).toReversed(), [
    "config.patch",
    "config.patch",
    "module.enable",
    "module.disable",
    "module.reload",
    "module.rollback",
    "layout.replace",
    "layout.restore",
    "scene.put",
    "scene.order",
    "scene.remove",
    "mqtt.publish",
    "token.issue",
    "token.revoke",
    "key.rotate",
  ]);
  assert.deepEqual([...new Set(records.map(({ sub }) => sub))], ["admin"]);
  const text = await readFile(join(app.data, "audit.log"), "utf8");
  assert.ok(!text.includes("canary") && !text.includes(await app.token("admin")));
});

test("the audit is read in pages", async (t) => {
  const { api } = await serveApp(t);
  for (let n = 0; n < 5; n++) await api("admin", "/modules/demo/enable", { method: "POST" });

  const first = (await (await api("admin", "/audit?limit=3")).json()) as AuditPage;
  const rest = (await (await api("admin", `/audit?before=${first.next}`)).json()) as AuditPage;
  const wrong = await Promise.all(
    ["limit=0", "limit=1001", "limit=x", "before=a%0Ab"].map(
      async (query) => (await api("admin", `/audit?${query}`)).status,
    ),
  );

  assert.deepEqual([first.records.length, rest.records.length, rest.next], [3, 2, null]);
  assert.deepEqual(wrong, [422, 422, 422, 422]);
});

const LAMP_ON = { "demo:light:1": { on: true } };

interface AuditPage {
  readonly records: Record<string, unknown>[];
  readonly next: string | null;
}

async function statusWith({ url }: ServedApp, token: string, path = "/config"): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v1${path}`, { headers })).status;
}

function claimsOf(token: string): { exp?: number } {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
    exp?: number;
  };
}

test("the rights of a token change at once, also for what it opened, and streams end", async (t) => {
  const app = await serveApp(t);
  const token = await app.tokens.issue({ name: "child", scope: ["control"], ttlSeconds: 600 });
  const { jti } = app.tokens.verify(token);
  const session = await app.tokens.openSession(token);
  const headers = { authorization: `Bearer ${token}` };
  const stream = await fetch(`${app.url}/api/v1/events`, { headers });
  const change = (body: object) => app.api("admin", `/tokens/child?id=${jti}`, json("PATCH", body));
  const activate = async () => {
    const path = `${app.url}/api/v1/smart-home/scenes/demo:scene:9/activate`;
    const answer = await fetch(path, { method: "POST", headers });
    return `${answer.status} ${((await answer.json()) as { code: string }).code}`;
  };

  const before = await activate();
  const changed = await (await change({ readOnlyPaths: ["smart-home/scenes"] })).json();
  const refused = await activate();
  const read = await fetch(`${app.url}/api/v1/smart-home/scenes`, { headers });
  await change({ readOnlyPaths: [] });
  const again = await activate();
  await change({ scope: ["read"] });
  const lowered = await activate();

  assert.deepEqual(
    [before, changed, refused, read.status, again, lowered],
    [
      "404 scene_unknown",
      { changed: 2 },
      "403 insufficient_scope",
      200,
      "404 scene_unknown",
      "403 insufficient_scope",
    ],
  );
  assert.deepEqual(app.tokens.verify(session.token).scope, ["read"]);
  await stream.text(); // It ends; the client opens another one with its new rights.
  const page = (await (await app.api("admin", "/audit?limit=1")).json()) as AuditPage;
  const [last] = page.records;
  assert.deepEqual([last?.["action"], last?.["scope"]], ["token.rights", ["read"]]);
});

test("a token cannot change its own rights, and unknown ones and bad rights are refused", async (t) => {
  const app = await serveApp(t);
  await app.api("admin", "/config");
  const own = app.tokens.list()[0];
  const other = await app.tokens.issue({ name: "x", scope: ["read"], ttlSeconds: 60 });
  const { jti } = app.tokens.verify(other);
  const change = async (path: string, body: object, scope: "edit" | "admin" = "admin") =>
    (await app.api(scope, path, json("PATCH", body))).status;

  assert.equal(await change(`/tokens/${own?.name}?id=${own?.jti}`, { scope: ["read"] }), 422);
  assert.equal(await change(`/tokens/x?id=missing`, { scope: ["read"] }), 404);
  assert.equal(await change(`/tokens/y?id=${jti}`, { scope: ["read"] }), 404);
  assert.equal(await change(`/tokens/x`, { scope: ["read"] }), 422);
  assert.equal(await change(`/tokens/x?id=${jti}`, { scope: ["admin"] }, "edit"), 403);
  const bad = [
    {},
    { scope: [] },
    { scope: ["root"] },
    { readOnlyPaths: ["/a"] },
    { readOnlyPaths: ["smart-home/devices/hue:light:1"] },
    { name: "z" },
  ];
  for (const body of bad) assert.equal(await change(`/tokens/x?id=${jti}`, body), 422);
  assert.deepEqual(app.tokens.verify(other).scope, ["read"]);
});

test("who may only look at devices commands none, alone, with others or by their room", async (t) => {
  const app = await serveApp(t);
  const token = await app.tokens.issue({
    ...{ name: "guest", scope: ["control"], ttlSeconds: 60 },
    readOnlyPaths: ["smart-home/devices", "smart-home/commands", "rooms"],
  });
  const headers = { authorization: `Bearer ${token}` };
  const statusOf = async (path: string, body: object) =>
    (await fetch(`${app.url}/api/v1${path}`, json("POST", body, headers))).status;

  assert.equal(await statusOf("/smart-home/devices/demo:light:1/command", { on: true }), 403);
  const commands = [{ id: "demo:light:1", command: { on: true } }];
  assert.equal(await statusOf("/smart-home/commands", { commands }), 403);
  assert.equal(await statusOf("/rooms/Hall/command", { command: { on: false } }), 403);
  assert.equal(await statusWith(app, token, "/smart-home/devices"), 200);
});

test("a token that a limited admin makes has the same limits", async (t) => {
  const app = await serveApp(t);
  const readOnlyPaths = ["automations"];
  const admin = await app.tokens.issue({
    ...{ name: "parent", scope: ["admin"], ttlSeconds: 60 },
    readOnlyPaths,
  });
  const headers = { authorization: `Bearer ${admin}` };

  const made = await fetch(
    `${app.url}/api/v1/tokens`,
    json("POST", { name: "child", scope: ["control"] }, headers),
  );
  const { token } = (await made.json()) as { token: string };

  assert.deepEqual(app.tokens.verify(token).readOnlyPaths, readOnlyPaths);
});
