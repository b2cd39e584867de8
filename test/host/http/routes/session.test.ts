import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Scope } from "../../../../host/auth/scopes.ts";
import type { IssueRequest } from "../../../../host/auth/tokens.ts";
import { deviceOf } from "../../../../host/http/routes/session.ts";
import { until } from "../../../helpers/until.ts";
import { json, rawStatus, type ServedApp, serveApp } from "../serve-app.ts";

const THEME = { ui: { theme: "dark" } };

/** A link's token, made for this test alone. */
function link({ tokens }: ServedApp, request: Partial<IssueRequest> = {}): Promise<string> {
  return tokens.issue({ name: "anna", scope: ["admin"], ttlSeconds: 3_600, ...request });
}

interface SignedIn {
  readonly status: number;
  readonly code: string | undefined;
  /** As the browser sends it back. */
  readonly cookie: string;
  readonly setCookie: string;
  readonly body: Record<string, unknown>;
}

/** Signs in as the dashboard does, unless told otherwise. */
async function signIn(
  { url }: ServedApp,
  token: string,
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const init = json("POST", { token }, { origin: url, ...headers });
  const response = await fetch(`${url}/api/v1/session`, init);
  const setCookie = response.headers.getSetCookie().join("\n");
  const body = (await response.json()) as Record<string, unknown>;
  const [cookie = ""] = setCookie.split(";");
  return { status: response.status, code: body["code"] as string, cookie, setCookie, body };
}

/** Asks with a cookie, and gives the status and the code. */
async function ask(
  { url }: ServedApp,
  path: string,
  { cookie = "", ...init }: RequestInit & { cookie?: string } = {},
): Promise<string> {
  const headers = new Headers(init.headers);
  headers.set("cookie", cookie);
  const response = await fetch(`${url}/api/v1${path}`, { ...init, headers });
  const { code = "" } = (await response.json().catch(() => ({}))) as { code?: string };
  return `${response.status} ${code}`.trim();
}

test("a token becomes an HttpOnly cookie, which can read and write", async (t) => {
  const app = await serveApp(t);
  const { port } = new URL(app.url);

  const { status, cookie, setCookie, body } = await signIn(app, await link(app));
  const read = await ask(app, "/config", { cookie });
  const write = await ask(app, "/config", {
    cookie,
    ...json("PATCH", THEME, { origin: app.url, "sec-fetch-site": "same-origin" }),
  });

  assert.equal(status, 201);
  assert.match(
    setCookie,
    new RegExp(
      `^mantel_session_${port}=[\\w-]+\\.[\\w-]+\\.[\\w-]+; Path=/; Max-Age=3(?:600|59\\d); HttpOnly; SameSite=Strict$`,
    ),
  );
  assert.deepEqual([read, write], ["200", "200"]);
  assert.ok(Math.abs(Date.parse(body["expiresAt"] as string) - Date.now() - 3_600_000) < 10_000);
  assert.deepEqual(
    { ...body, expiresAt: "" },
    {
      name: "anna",
      scope: ["admin"],
      readOnlyPaths: [],
      display: false,
      expiresAt: "",
    },
  );
});

test("a link signs in one browser; its token stays valid in the header", async (t) => {
  const app = await serveApp(t);
  const token = await link(app);

  const both = await Promise.all([signIn(app, token), signIn(app, token)]);
  const again = await signIn(app, token);

  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 401],
  );
  assert.deepEqual([again.status, again.code, again.setCookie], [401, "link_used", ""]);
  assert.equal(
    await rawStatus(app.url, "/api/v1/config", { authorization: `Bearer ${token}` }),
    200,
  );
});

test("a token of version 0.1.0, which several browsers may hold, signs each of them in", async (t) => {
  const app = await serveApp(t);
  const token = await link(app);
  const path = join(app.data, "tokens.jsonl");
  await writeFile(path, (await readFile(path, "utf8")).replace(',"opensOnce":true', ""));
  await until(() => app.tokens.list()[0]?.opensOnce === undefined);

  const statuses = [(await signIn(app, token)).status, (await signIn(app, token)).status];

  assert.deepEqual(statuses, [201, 201]);
});

test("a session lives as long as its token, and the first visitor's for longer than the link", async (t) => {
  const app = await serveApp(t);
  const [plain, first] = [await link(app), await link(app, { sessionSeconds: 86_400 })];

  const lives = [await signIn(app, plain), await signIn(app, first)].map(
    ({ setCookie }) => /Max-Age=(\d+)/.exec(setCookie)?.[1],
  );

  assert.deepEqual(
    lives.map((life) => Math.round(Number(life) / 100)),
    [36, 864],
  );
});

test("writes with the cookie need this server's origin, and reads must not come from other sites", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app));
  const { port } = new URL(app.url);
  const write = (headers: Record<string, string>) =>
    ask(app, "/config", { cookie, ...json("PATCH", THEME, headers) });
  const read = (headers: Record<string, string>) => ask(app, "/config", { cookie, headers });

  const refused = await Promise.all([
    write({}),
    write({ origin: "null" }),
    write({ origin: "https://evil.example" }),
    write({ origin: `https://127.0.0.1:${port}` }),
    write({ origin: `http://localhost:${port}` }),
    write({ origin: "http://127.0.0.1" }),
    write({ origin: `${app.url}/` }),
    write({ origin: `${app.url}.evil.example` }),
    write({ origin: app.url, "sec-fetch-site": "cross-site" }),
    write({ origin: app.url, "sec-fetch-site": "same-site" }),
    ask(app, "/session", { cookie, method: "DELETE" }),
    ask(app, "/tokens/rotate", { cookie, method: "POST" }),
    ask(app, "/layout/restore/1", { cookie, method: "POST", headers: { origin: "null" } }),
    read({ origin: "https://evil.example" }),
    read({ "sec-fetch-site": "cross-site" }),
    read({ "sec-fetch-site": "same-site" }),
    ask(app, "/events", { cookie, headers: { "sec-fetch-site": "same-site" } }),
  ]);
  const allowed = await Promise.all([
    read({}),
    read({ "sec-fetch-site": "same-origin" }),
    read({ "sec-fetch-site": "none" }),
    write({ origin: app.url, "sec-fetch-site": "same-origin" }),
    write({ origin: `https://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" }),
  ]);

  assert.deepEqual(new Set(refused), new Set(["403 origin_refused"]));
  assert.deepEqual(new Set(allowed), new Set(["200"]));
});

test("signing in requires this server's origin, so that other sites cannot sign a screen in", async (t) => {
  const app = await serveApp(t);
  const token = await link(app);

  const { code: foreign } = await signIn(app, token, { origin: "https://evil.example" });
  const { code: opaque } = await signIn(app, token, { origin: "null" });
  const missing = await app.api(null, "/session", json("POST", { token }));
  const own = await signIn(app, token);

  assert.deepEqual([foreign, opaque, missing.status], ["origin_refused", "origin_refused", 403]);
  assert.equal(own.status, 201, "what was refused has not used the link up");
});

test("the Authorization header still works and wins over a cookie", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app));
  const reader = await app.token("read");
  const authorization = `Bearer ${reader}`;

  const read = await ask(app, "/config", { cookie, headers: { authorization } });
  const write = await ask(app, "/config", {
    cookie,
    ...json("PATCH", { log: { level: "warn" } }, { authorization, origin: app.url }),
  });
  const broken = await ask(app, "/config", { cookie, headers: { authorization: "Bearer x" } });
  const plain = await app.api("admin", "/config", json("PATCH", THEME));

  assert.deepEqual([read, write, broken], ["200", "403 insufficient_scope", "401 unauthorized"]);
  assert.equal(plain.status, 200, "without an origin");
});

test("a session is valid only in the cookie, a token only in the header, and only one cookie is accepted", async (t) => {
  const app = await serveApp(t);
  const token = await link(app);
  const { cookie } = await signIn(app, token);
  const [name = "", session = ""] = cookie.split("=");
  const { port } = new URL(app.url);

  const statuses = await Promise.all([
    ask(app, "/config", { headers: { authorization: `Bearer ${session}` } }),
    ask(app, "/config", { cookie: `${name}=${token}` }),
    ask(app, "/config", { cookie: `${cookie}; ${cookie}` }),
    ask(app, "/config", { cookie: `${name}=${await link(app)}; ${cookie}` }),
    ask(app, "/config", { cookie: `mantel_session=${session}` }),
    ask(app, "/config", { cookie: `token=${session}` }),
    ask(app, "/config", { cookie: `${name}=` }),
    ask(app, "/config", { cookie: `mantel_session_${Number(port) + 1}=${session}` }),
  ]);
  const { status } = await signIn(app, session);

  assert.deepEqual(new Set(statuses), new Set(["401 unauthorized"]));
  assert.equal(status, 401);
});

test("a session and its event stream end when its token ends", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app));
  const stream = await fetch(`${app.url}/api/v1/events`, { headers: { cookie } });

  await app.api("admin", "/tokens/anna", { method: "DELETE" });
  const after = await ask(app, "/config", { cookie });
  await stream.text(); // it ends

  assert.deepEqual([stream.status, after], [200, "401 unauthorized"]);
});

test("revoking a token by its id ends its session; revoking the session ends only that", async (t) => {
  const app = await serveApp(t);
  const [one, two] = [await link(app), await link(app)];
  const sessions = [await signIn(app, one), await signIn(app, two)];
  const idOf = (token: string) => app.tokens.verify(token).jti;
  const second = sessions[1]?.cookie.split("=")[1] ?? "";

  await app.api("admin", `/tokens/anna?id=${idOf(one)}`, { method: "DELETE" });
  await app.api("admin", `/tokens/anna?id=${idOf(second)}`, { method: "DELETE" });

  const left = await Promise.all(sessions.map(({ cookie }) => ask(app, "/config", { cookie })));
  assert.deepEqual(left, ["401 unauthorized", "401 unauthorized"]);
  assert.throws(() => app.tokens.verify(one));
  assert.equal(app.tokens.verify(two).sub, "anna");
});

test("signing out ends the session, its streams and the cookie, and leaves the token", async (t) => {
  const app = await serveApp(t);
  const token = await link(app);
  const { cookie } = await signIn(app, token);
  const stream = await fetch(`${app.url}/api/v1/events`, { headers: { cookie } });

  const out = await fetch(`${app.url}/api/v1/session`, {
    method: "DELETE",
    headers: { cookie, origin: app.url },
  });
  const after = await ask(app, "/config", { cookie });
  const byHeader = await ask(app, "/session", {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  await stream.text(); // it ends

  const [name = ""] = cookie.split("=");
  assert.equal(out.status, 204);
  assert.match(
    out.headers.getSetCookie().join(),
    new RegExp(`^${name}=; Path=/; Max-Age=0; HttpOnly`),
  );
  assert.deepEqual([after, byHeader], ["401 unauthorized", "404 not_found"]);
  assert.equal(app.tokens.verify(token).sub, "anna");
});

test("the session is described by name and scopes, never by its token", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app, { scope: ["control"] }));

  const told = await fetch(`${app.url}/api/v1/session`, { headers: { cookie } });
  const nobody = await ask(app, "/session");

  const body = (await told.json()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body).toSorted(), [
    "display",
    "expiresAt",
    "name",
    "readOnlyPaths",
    "scope",
  ]);
  assert.deepEqual(
    [body["name"], body["scope"], nobody],
    ["anna", ["control"], "401 unauthorized"],
  );
});

test("a second sign-in in the same browser needs a confirmation and ends the first session", async (t) => {
  const app = await serveApp(t);
  const { cookie: before } = await signIn(app, await link(app));
  const token = await link(app, { name: "ben" });

  const asked = await signIn(app, token, { cookie: before });
  const stays = await ask(app, "/config", { cookie: before });
  const init = json("POST", { token, replace: true }, { cookie: before, origin: app.url });
  const meant = await fetch(`${app.url}/api/v1/session`, init);
  const [next = ""] = meant.headers.getSetCookie().join().split(";");

  assert.deepEqual(
    [asked.status, asked.code, asked.setCookie, stays],
    [409, "signed_in", "", "200"],
  );
  assert.equal(meant.status, 201, "the link was not used up");
  assert.deepEqual(
    [await ask(app, "/config", { cookie: before }), await ask(app, "/config", { cookie: next })],
    ["401 unauthorized", "200"],
  );
});

test("an invalid token does not end a session", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app));

  const junk = await signIn(app, "junk", { cookie });

  assert.deepEqual([junk.status, junk.setCookie], [401, ""]);
  assert.equal(await ask(app, "/config", { cookie }), "200");
});

test("a display's token moves into the cookie, ends with its first use, and renews itself there", async (t) => {
  const app = await serveApp(t);
  const token = await link(app, {
    name: "wall",
    scope: ["control"],
    ttlSeconds: 3_600,
    display: true,
  });
  const { cookie, body } = await signIn(app, token);
  await ask(app, "/config", { cookie });
  const renew = async () => {
    const headers = { cookie, origin: app.url };
    const response = await fetch(`${app.url}/api/v1/tokens/renew`, { method: "POST", headers });
    const [next = ""] = response.headers.getSetCookie();
    return { next, body: (await response.json()) as { token: null; renewed: boolean } };
  };

  const early = await renew();
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_000_000 });
  const due = await renew();
  const next = due.next.split(";")[0] ?? "";
  const used = await ask(app, "/config", { cookie: next });

  assert.equal(body["display"], true);
  assert.throws(() => app.tokens.verify(token), { message: "the token was revoked" });
  assert.deepEqual([early.next, early.body], ["", { token: null, renewed: false }]);
  assert.deepEqual(due.body, { token: null, renewed: true });
  assert.match(due.next, /HttpOnly; SameSite=Strict$/);
  assert.notEqual(next, cookie);
  assert.deepEqual([used, await ask(app, "/config", { cookie })], ["200", "401 unauthorized"]);
});

test("a session that drops the keys gets the next cookie, and no token to read", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app));

  const init = json("POST", { drop: true }, { cookie, origin: app.url });
  const dropped = await fetch(`${app.url}/api/v1/tokens/rotate`, init);

  const [next = ""] = dropped.headers.getSetCookie().join().split(";");
  assert.deepEqual(await dropped.json(), { droppedKeys: 1 });
  assert.deepEqual(
    [await ask(app, "/config", { cookie }), await ask(app, "/config", { cookie: next })],
    ["401 unauthorized", "200"],
  );
});

test("over a proxy that ends TLS the cookie is bound to the host and to TLS", async (t) => {
  const app = await serveApp(t);
  const host = new URL(app.url).host;
  const browser = { origin: `https://${host}`, "sec-fetch-site": "same-origin" };

  const { setCookie, cookie } = await signIn(app, await link(app), browser);

  assert.match(setCookie, /^__Host-mantel_session_\d+=.*; Path=\/; .*; SameSite=Strict; Secure$/);
  assert.equal(await ask(app, "/config", { cookie }), "200");
});

test("tokens refused at the sign-in count towards the address's limit", async (t) => {
  const app = await serveApp(t);
  const rateLimit = { perSecond: 100, burst: 100, loopback: true };
  await app.config.patch({ server: { rateLimit } }, { admin: true });

  const statuses: number[] = [];
  for (let n = 0; n < 12; n++) statuses.push((await signIn(app, `junk ${n}`)).status);
  const good = await signIn(app, await link(app));

  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);
  assert.equal(good.status, 201, "a good token is not locked out");
});

test("requests with a session count towards its token's limit", async (t) => {
  const app = await serveApp(t);
  const [one, two] = [await signIn(app, await link(app)), await signIn(app, await link(app))];
  const rateLimit = { perSecond: 0.01, burst: 1, loopback: true };
  await app.config.patch({ server: { rateLimit } }, { admin: true });

  const statuses: string[] = [];
  for (const { cookie } of [one, one, one, one, two]) {
    statuses.push(await ask(app, "/config", { cookie }));
  }

  assert.deepEqual(statuses.slice(2), ["429 rate_limited", "429 rate_limited", "200"]);
});

test("sign-ins and sign-outs are recorded", async (t) => {
  const app = await serveApp(t);
  const { cookie } = await signIn(app, await link(app, { scope: ["read"] }));
  await ask(app, "/session", { method: "DELETE", cookie, headers: { origin: app.url } });

  const { records } = (await (await app.api("admin", "/audit")).json()) as {
    records: { action: string; sub: string; scope?: Scope[] }[];
  };

  assert.deepEqual(
    records.map(({ action, sub }) => [action, sub]),
    [
      ["session.end", "anna"],
      ["session.start", "anna"],
    ],
  );
});

test("a session is listed with the kind of its device, and its link as used", async (t) => {
  const app = await serveApp(t);
  const android =
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Mobile Safari/537.36";
  await signIn(app, await link(app), { "user-agent": android });

  const { tokens } = (await (await app.api("admin", "/tokens")).json()) as {
    tokens: { name: string; session: boolean; device: string | null; lastUsedAt: string | null }[];
  };
  const used = tokens.filter(({ name, session }) => name === "anna" && !session);
  assert.equal(used.length, 1);
  assert.notEqual(used[0]?.lastUsedAt, null, "the link was used");
  assert.deepEqual(
    tokens.filter(({ session }) => session).map(({ device }) => device),
    ["phone"],
  );
  for (const [agent, device] of Object.entries({
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148": "phone",
    "Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) Mobile/15E148": "tablet",
    "Mozilla/5.0 (Linux; Android 12; SM-T510) Safari/537.36": "tablet",
    "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36": "computer",
    "": "computer",
  }))
    assert.equal(deviceOf(agent), device, agent);
});
