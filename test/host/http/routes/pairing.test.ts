import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scope } from "../../../../host/auth/scopes.ts";
import { json, type ServedApp, serveApp } from "../serve-app.ts";

interface Started {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUriComplete: string;
}

const KITCHEN = { name: "Küche", scope: ["read"] };

async function start({ api }: ServedApp): Promise<Started> {
  return (await (await api(null, "/pairing", json("POST", {}))).json()) as Started;
}

async function collect({ api }: ServedApp, { deviceCode }: Started) {
  const response = await api(null, "/pairing/token", json("POST", { deviceCode }));
  const { code, token } = (await response.json()) as { code?: string; token?: string };
  return { status: response.status, code, token, retry: response.headers.get("retry-after") };
}

function approve({ api }: ServedApp, { userCode }: Started, { by = "edit" as Scope, ...body }) {
  return api(by, `/pairing/${userCode}/approve`, json("POST", body));
}

async function paired(app: ServedApp, grant: object = KITCHEN): Promise<string> {
  const started = await start(app);
  await approve(app, started, { ...grant, by: "admin" });
  const { token } = await collect(app, started);
  assert.ok(token);
  return token;
}

/** Requests with a token of one's own. */
function as({ url }: ServedApp, token: string) {
  return (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(`${url}/api/v1${path}`, { ...init, headers });
  };
}

test("a display is approved by a user, reads the home, and is revoked by name", async (t) => {
  const app = await serveApp(t);
  const started = await start(app);

  const pending = await collect(app, started);
  const looked = await app.api("edit", `/pairing/${started.userCode.toLowerCase()}`);
  const approved = await approve(app, started, KITCHEN);
  const { token = "" } = await collect(app, started);
  const allowed = await as(app, token)("/config");
  const forbidden = await as(app, token)("/smart-home/scenes/a/activate", json("POST", {}));
  const { tokens } = (await (await app.api("admin", "/tokens")).json()) as {
    tokens: { name: string; display: boolean }[];
  };
  await app.api("admin", `/tokens/${encodeURIComponent("Küche")}`, { method: "DELETE" });
  const revoked = await as(app, token)("/config");

  assert.deepEqual([pending.status, pending.code], [400, "authorization_pending"]);
  assert.equal(pending.retry, "5");
  assert.equal(started.verificationUriComplete, `/#pair=${started.userCode}`);
  assert.equal(((await looked.json()) as { address: string }).address, "127.0.0.1");
  assert.deepEqual(await approved.json(), KITCHEN);
  assert.deepEqual([allowed.status, forbidden.status, revoked.status], [200, 403, 401]);
  assert.equal(tokens.find(({ name }) => name === "Küche")?.display, true);
  assert.equal(((await revoked.json()) as { reason: string }).reason, "revoked");
});

test("approvals and rejections of displays are recorded", async (t) => {
  const app = await serveApp(t);
  const denied = await start(app);
  await paired(app);

  await app.api("edit", `/pairing/${denied.userCode}`, { method: "DELETE" });

  const told = await collect(app, denied);
  const { records } = (await (await app.api("admin", "/audit")).json()) as {
    records: { action: string; sub: string }[];
  };
  assert.deepEqual([told.status, told.code], [400, "access_denied"]);
  assert.deepEqual(
    records.map(({ action, sub }) => [action, sub]),
    [
      ["pairing.deny", "edit"],
      ["pairing.approve", "admin"],
    ],
  );
});

test("a display cannot get more than its approver has, and displays cannot approve others", async (t) => {
  const app = await serveApp(t);
  const started = await start(app);
  const editor = await paired(app, { name: "Hall", scope: ["edit"] });

  const statuses = [
    await approve(app, started, { name: "Attic", scope: ["admin"] }),
    await approve(app, started, { ...KITCHEN, by: "control" }),
    await as(app, editor)(`/pairing/${started.userCode}/approve`, json("POST", KITCHEN)),
  ].map(({ status }) => status);

  assert.deepEqual(statuses, [403, 403, 403]);
  assert.equal((await collect(app, started)).code, "authorization_pending");
});

test("an invalid approval is refused, and the display keeps waiting", async (t) => {
  const app = await serveApp(t);
  await paired(app);
  const started = await start(app);
  const unknown = { ...started, userCode: "BBBB-BBBB" };

  const answers = [
    await approve(app, started, KITCHEN),
    await approve(app, started, { name: "", scope: ["read"] }),
    await approve(app, started, { name: "Attic", scope: [] }),
    await approve(app, started, { name: "Attic", scope: ["read"], ttlSeconds: 5 }),
    await approve(app, unknown, { name: "Attic", scope: ["read"] }),
    await approve(app, { ...started, userCode: "AEIO-UAEI" }, KITCHEN),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [409, 422, 422, 422, 404, 400],
  );
  assert.equal((await collect(app, started)).code, "authorization_pending");
});

test("a display's name is reserved before it collects its token", async (t) => {
  const app = await serveApp(t);
  const [first, second] = [await start(app), await start(app)];

  const statuses = [
    await approve(app, first, KITCHEN),
    await approve(app, second, KITCHEN),
    await approve(app, second, { ...KITCHEN, name: "Küche 2" }),
  ].map(({ status }) => status);

  assert.deepEqual(statuses, [200, 409, 200]);
});

test("a page of another site cannot request codes, and a wrong device code gets no token", async (t) => {
  const { api } = await serveApp(t);

  const simple = await api(null, "/pairing", { method: "POST", body: "{}" });
  const empty = await api(null, "/pairing", { method: "POST" });
  const wrong = await api(null, "/pairing/token", json("POST", { deviceCode: "x" }));

  assert.deepEqual([simple.status, empty.status, wrong.status], [415, 422, 400]);
  assert.equal(((await wrong.json()) as { code: string }).code, "expired_token");
});

test("a display's token is renewed when it is due, and ends when the next one is used", async (t) => {
  const app = await serveApp(t);
  const { tokens } = app;
  const display = { name: "Hall", scope: ["read" as const], display: true };
  const first = await tokens.issue({ ...display, ttlSeconds: 3 });
  const young = await tokens.issue({ ...display, ttlSeconds: 600 });
  const renew = async (token: string) =>
    (await (await as(app, token)("/tokens/renew", { method: "POST" })).json()) as {
      token: string | null;
    };

  const early = await renew(young);
  let next: string | null = null;
  while (next === null) next = (await renew(first)).token;
  const lost = (await renew(first)).token;
  const before = await as(app, first)("/config");
  const used = await as(app, next)("/config");
  const after = await as(app, first)("/config");
  const person = await app.api("admin", "/tokens/renew", { method: "POST" });

  assert.equal(early.token, null);
  assert.ok(lost, "an answer that was lost on the way is asked for again");
  assert.deepEqual([before.status, used.status, after.status], [200, 200, 401]);
  assert.equal(person.status, 403);
  assert.deepEqual(tokens.verify(next).scope, ["read"]);
});
