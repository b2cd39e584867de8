import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defineService, ServiceError, Type } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { json, serveApp } from "../serve-app.ts";

const items = defineService("acme.news.items", {
  version: 2,
  title: "Headlines of a feed",
  input: Type.Object({ feed: Type.String() }),
  output: Type.Array(Type.String()),
  errors: { feed_unknown: "no feed has this name" },
  open: "control",
});
const refresh = defineService("acme.news.refresh", { input: Type.Object({}), open: "read" });
const hidden = defineService("acme.news.hidden", { input: Type.Object({}) });

/** An app with a plugin that provides services; `answer` is its answer to each call. */
async function open(t: TestContext, answer: (input: unknown) => unknown = () => ["Rain"]) {
  const app = await serveApp(t);
  app.parts.services.claim({
    id: "news",
    provides: ["acme.news.items@2", "acme.news.refresh", "acme.news.hidden"],
    definitions: () => [items, refresh, hidden],
    callService: async ({ input }) => answer(input),
  });
  const call = (name: string, input?: unknown, scope: "read" | "control" = "control") =>
    app.api(
      scope,
      `/services/${name}`,
      input === undefined ? { method: "POST" } : json("POST", input),
    );
  return { ...app, call };
}
const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { code: string }).code,
];

test("an open service is called with its input, and its answer is the body", async (t) => {
  const { call } = await open(t, (input) => [input]);

  const answer = await call("acme.news.items@2", { feed: "world" });

  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), [{ feed: "world" }]);
});

test("a service without an answer is 204, and its input may be missing", async (t) => {
  const inputs: unknown[] = [];
  const { call } = await open(t, (input) => void inputs.push(input));

  const answer = await call("acme.news.refresh", undefined, "read");

  assert.deepEqual([answer.status, inputs], [204, [{}]]);
});

test("a service that is not open, not of this version or of no plugin is not found", async (t) => {
  const { call } = await open(t);

  for (const name of ["acme.news.hidden", "acme.news.items", "acme.mail.send", "mqtt.publish"]) {
    assert.deepEqual(await codeOf(await call(name, {})), [404, "not_found"], name);
  }
  assert.deepEqual(await codeOf(await call("NEWS", {})), [400, "bad_id"]);
});

test("a service of a module that does not run is 503 with a time to retry", async (t) => {
  const { call, parts } = await open(t);
  t.mock.method(parts.modules, "findStopped", (name: string) =>
    name === "acme.mail.send" ? "mail" : undefined,
  );

  const down = await call("acme.mail.send", {});

  assert.ok(Number(down.headers.get("retry-after")) >= 1);
  assert.deepEqual(await codeOf(down), [503, "service_unavailable"]);
  assert.deepEqual(await codeOf(await call("acme.mail.read", {})), [404, "not_found"]);
});

test("a token needs the scope of the service", async (t) => {
  const { call, url } = await open(t);

  assert.deepEqual(await codeOf(await call("acme.news.items@2", { feed: "x" }, "read")), [
    403,
    "insufficient_scope",
  ]);
  const anonymous = await fetch(`${url}/api/v1/services/acme.news.items@2`, json("POST", {}));
  assert.equal(anonymous.status, 401);
});

for (const [what, error, expected] of [
  [
    "an error of the service's own has its code beside the problem's",
    new ServiceError(items, "feed_unknown", "there is no feed x"),
    {
      status: 422,
      code: "service_error",
      serviceError: "feed_unknown",
      detail: "there is no feed x",
    },
  ],
  [
    "an unexpected error shows nothing of its text",
    new RemoteFault({ name: "Error", message: "the key is 1234" }),
    {
      status: 503,
      code: "service_unavailable",
      serviceError: undefined,
      detail: "acme.news.items@2 of news failed; see the log of news",
    },
  ],
  [
    "a refused input is 422",
    new MantelError("invalid", "the input is wrong"),
    { status: 422, code: "invalid", serviceError: undefined, detail: "the input is wrong" },
  ],
] as const) {
  test(what, async (t) => {
    const { call } = await open(t, () => {
      throw error;
    });

    const answer = await call("acme.news.items@2", { feed: "x" });

    const { status, code, serviceError, detail } = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual({ status, code, serviceError, detail }, expected);
  });
}

test("a call that needs the scope edit is checked before its module is asked, and is in the audit log", async (t) => {
  const app = await serveApp(t);
  const change = defineService("calendar.change", {
    input: Type.Object({ calendarId: Type.String() }),
    output: Type.Unknown(),
    open: "edit",
  });
  app.parts.services.claim({
    id: "calendar",
    provides: ["calendar.change"],
    definitions: () => [change],
    callService: async () => null,
  });
  const inputs: unknown[] = [];
  app.parts.services.merge("calendar.change", async (input) => (inputs.push(input), {}));
  const records: unknown[] = [];
  t.mock.method(
    app.parts.audit,
    "record",
    async (...record: unknown[]) => void records.push(record[1]),
  );
  const call = (input: unknown) =>
    app.api("edit", "/services/calendar.change", json("POST", input));

  assert.deepEqual(await codeOf(await call({ calendarId: 1 })), [422, "invalid"]);
  assert.equal((await call({ calendarId: "family" })).status, 200);

  assert.deepEqual(inputs, [{ calendarId: "family" }]);
  assert.deepEqual(records, [{ action: "service.call", service: "calendar.change" }]);
});

test("the API's document has the open services with their schemas, as long as they run", async (t) => {
  const { api, parts } = await open(t);
  const paths = async () =>
    ((await (await api("read", "/openapi.json")).json()) as { paths: Record<string, never> }).paths;

  const before = await paths();
  parts.services.release("news");
  const after = await paths();

  const { post } = (before["/api/v1/services/acme.news.items@2"] ?? {}) as { post?: object };
  assert.deepEqual(Object.keys(before).filter((path) => path.includes("acme")).length, 2);
  assert.match(JSON.stringify(post), /"feed":\{"type":"string"\}.*"items":\{"type":"string"\}/);
  assert.deepEqual(
    Object.keys(after).filter((path) => path.includes("acme")),
    [],
  );
});
