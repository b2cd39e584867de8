import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Api, ApiError } from "../../../host/dashboard/api.ts";
import { mockAgain } from "../../helpers/mock-again.ts";

const WHO = { name: "Mia", scope: ["edit"], display: false };
const REFUSED = problem(401, { code: "unauthorized", detail: "Sign in", reason: "expired" });

test("each method sends its request below the prefix, and gives the answer", async (t) => {
  const { api, sent } = host(t, () => Response.json({ ok: 1 }));

  const answers = [
    await api.get("/a"),
    await api.post("/b", { x: 1 }),
    await api.post("/c"),
    await api.change("PUT", "/d", { body: { y: 2 }, revision: 7 }),
    await api.delete("/e"),
    await api.send("PATCH", "/f", { z: 3 }),
    await api.send("DELETE", "/g"),
  ];

  assert.deepEqual(new Set(answers.map((each) => JSON.stringify(each))), new Set(['{"ok":1}']));
  assert.deepEqual(sent.map(lineOf), [
    "GET /api/v1/a",
    'POST /api/v1/b {"x":1}',
    "POST /api/v1/c {}",
    'PUT /api/v1/d {"y":2} if "7"',
    "DELETE /api/v1/e",
    'PATCH /api/v1/f {"z":3}',
    "DELETE /api/v1/g",
  ]);
  assert.ok(
    sent.every(({ init }) => init.signal && (init as { cache?: string }).cache === "no-store"),
  );
});

test("an answer without a body is undefined", async (t) => {
  const { api } = host(t, () => new Response(null, { status: 204 }));

  assert.equal(await api.delete("/a"), undefined);
});

test("the prefix is the one that the host names, or the default if it does not answer", async (t) => {
  const { api, fails } = host(t, () => Response.json({ prefix: "/api/v2" }));
  const warned = t.mock.method(console, "warn", () => undefined);
  fails.push(new TypeError("no network"));

  await api.discover();
  const before = api.address("/a");
  await api.discover();

  assert.deepEqual([before, api.address("/a")], ["/api/v1/a", "/api/v2/a"]);
  assert.equal(warned.mock.callCount(), 1);
});

test("an error of the host has its code, its sentence and all faults", async (t) => {
  const errors = [{ pointer: "/name", detail: "is missing" }];
  const { api } = host(t, () =>
    problem(422, { code: "invalid", detail: "no", errors, retryAfterMs: 5 }),
  );

  await assert.rejects(api.get("/a"), (error) => {
    assert.ok(error instanceof ApiError);
    const { status, code, message, faults, retryAfterMs, reason } = error;
    assert.deepEqual(
      { status, code, message, faults, retryAfterMs, reason },
      {
        status: 422,
        code: "invalid",
        message: "no",
        faults: errors,
        retryAfterMs: 5,
        reason: undefined,
      },
    );
    return true;
  });
});

test("an error that is not the host's own has its status", async (t) => {
  for (const body of ["<html>", "null", '"text"']) {
    const { api } = host(t, () => new Response(body, { status: 502 }));

    await assert.rejects(api.get("/a"), {
      status: 502,
      code: "internal",
      message: "the host answered 502",
      faults: [],
    });
  }
});

test("without an answer the error is offline", async (t) => {
  const { api, fails } = host(t, () => Response.json({}));
  fails.push(new TypeError("no network"));

  await assert.rejects(api.get("/a"), {
    status: 0,
    code: "offline",
    message: "TypeError: no network",
  });
});

test("a request is repeated once if another tab has renewed the session", async (t) => {
  let isRenewed = false;
  const { api, sent, refusals } = host(t, ({ url }) => {
    if (!url.endsWith("/session")) return isRenewed ? Response.json({ ok: 1 }) : REFUSED.clone();
    isRenewed = true;
    return Response.json(WHO);
  });

  assert.deepEqual(await api.get("/a"), { ok: 1 });
  assert.deepEqual(sent.map(lineOf), ["GET /api/v1/a", "GET /api/v1/session", "GET /api/v1/a"]);
  assert.deepEqual(refusals, []);
});

test("requests that are refused at the same time check the session once, and each signs the user out", async (t) => {
  const { api, sent, refusals } = host(t, () => REFUSED.clone());

  const results = await Promise.allSettled([api.get("/a"), api.get("/b")]);

  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(sent.filter(({ url }) => url.endsWith("/session")).length, 1);
  assert.deepEqual(refusals, ["expired", "expired"]);
});

test("a request that is refused again although the session is valid signs the user out", async (t) => {
  const { api, sent, refusals } = host(t, ({ url }) =>
    url.endsWith("/session") ? Response.json(WHO) : REFUSED.clone(),
  );

  await assert.rejects(api.get("/a"), { status: 401 });
  assert.deepEqual([sent.length, refusals], [3, ["expired"]]);
});

test("a refusal for another reason does not sign the user out", async (t) => {
  const { api, refusals } = host(t, () => problem(403, { code: "insufficient_scope" }));

  await assert.rejects(api.get("/a"), { code: "insufficient_scope" });
  assert.deepEqual(refusals, []);
});

test("a token is exchanged for a session, and a refused token is an error that signs nobody out", async (t) => {
  const { api, sent, refusals } = host(t, ({ init }) =>
    textOf(init).includes("good") ? Response.json(WHO) : REFUSED.clone(),
  );

  assert.deepEqual(await api.signIn("good"), WHO);
  assert.deepEqual(await api.signIn("good", { replace: true }), WHO);
  await assert.rejects(api.signIn("bad"), { status: 401, reason: "expired" });
  assert.deepEqual(sent.map(lineOf).slice(0, 2), [
    'POST /api/v1/session {"token":"good","replace":false}',
    'POST /api/v1/session {"token":"good","replace":true}',
  ]);
  assert.deepEqual(refusals, []);
});

test("nobody is signed in without a session, and another failure is an error", async (t) => {
  const answers = [Response.json(WHO), REFUSED.clone(), problem(503, { code: "unavailable" })];
  const { api } = host(t, () => answers.shift() ?? REFUSED.clone());

  assert.deepEqual(await api.whoIsSignedIn(), WHO);
  assert.equal(await api.whoIsSignedIn(), undefined);
  await assert.rejects(api.whoIsSignedIn(), { code: "unavailable" });
});

test("a stream is opened until the caller's signal ends it", async (t) => {
  const { api, sent } = host(t, () => new Response("bytes"));
  const { signal } = new AbortController();

  const stream = await api.open("/events", { headers: { "Last-Event-ID": "7" }, signal });

  assert.equal(await stream.text(), "bytes");
  assert.equal(sent[0]?.init.signal, signal);
  assert.deepEqual(sent[0]?.init.headers, { "Last-Event-ID": "7" });
});

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A host with these answers, after those in `fails`. */
function host(t: TestContext, answer: (request: Sent) => Response) {
  const sent: Sent[] = [];
  const fails: Error[] = [];
  const refusals: (string | undefined)[] = [];
  mockAgain(t, globalThis, "fetch", async (input: unknown, init: RequestInit = {}) => {
    const url = String(input);
    sent.push({ url, init });
    const fail = fails.shift();
    if (fail) throw fail;
    return answer({ url, init });
  });
  return { api: new Api((reason) => refusals.push(reason)), sent, fails, refusals };
}

function lineOf(request: Sent | undefined): string {
  const { method = "GET", headers } = request?.init ?? {};
  const match = (headers as Record<string, string> | undefined)?.["If-Match"];
  const line = [method, request?.url, textOf(request?.init), match && `if ${match}`];
  return line.filter(Boolean).join(" ");
}

function textOf({ body }: RequestInit = {}): string {
  return typeof body === "string" ? body : "";
}

function problem(status: number, body: object): Response {
  return Response.json(body, { status });
}
