import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import type { ApiEvent } from "../../../../host/api/events.ts";
import { createRoutes } from "../../../../host/http/routes/index.ts";
import { HOST_PATHS, readManifest } from "../../../../host/modules/manifest/manifest.ts";
import { serveApp } from "../serve-app.ts";

const declared = (name: string, change: Partial<DeclaredChannel> = {}): DeclaredChannel => ({
  name,
  schema: { type: "object", properties: { height: { type: "number" } } },
  title: "Tides",
  maxBytes: 1_000,
  scope: "read",
  keep: false,
  ...change,
});
const PATHS = {
  "/tides": {
    channel: "tides",
    maxAgeSeconds: 5,
    event: { topic: "tides.changed", fields: ["height", "gone"] },
  },
  "/next-tide": { channel: "next", field: "tide" },
};

async function open(t: TestContext) {
  const events: ApiEvent[] = [];
  const app = await serveApp(t);
  const { channels, apiPaths } = app.parts;
  apiPaths.claim("sea", PATHS);
  return { ...app, channels, apiPaths, events };
}

async function publishing(t: TestContext, change: Partial<DeclaredChannel> = {}) {
  const app = await open(t);
  app.channels.admit("sea", [declared("tides", change), declared("next")]);
  app.channels.settle("sea");
  return app;
}

test("a path has the value of its channel, with an ETag, 304 and the age it may have", async (t) => {
  const { api, channels } = await publishing(t);
  await channels.publish("sea", "tides", '{"height":3,"at":"noon"}');

  const answer = await api("read", "/tides");
  assert.equal(await answer.text(), '{"height":3,"at":"noon"}');
  assert.equal(answer.headers.get("cache-control"), "private, max-age=5");
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
  const etag = answer.headers.get("etag") ?? "";
  assert.equal(etag, `"${channels.find("sea", "tides")?.current?.revision}"`);
  assert.equal((await api("read", "/tides", { headers: { "If-None-Match": etag } })).status, 304);
  assert.equal((await api("read", "/tides", { method: "HEAD" })).status, 200);
});

test("a path and a channel are read when a plugin that rests has started again", async (t) => {
  const { api, channels } = await publishing(t);
  await channels.publish("sea", "tides", '{"height":1}');
  let height = 1;
  channels.demand.setReady(() => channels.publish("sea", "tides", `{"height":${++height}}`));

  assert.deepEqual(await (await api("read", "/tides")).json(), { height: 2 });
  const { value } = (await (await api("read", "/channels/sea/tides")).json()) as { value: unknown };

  assert.deepEqual(value, { height: 3 });
});

test("before its first value a path is 503 with a time to retry, also while the plugin does not run", async (t) => {
  const { api } = await open(t);
  const answer = await api("read", "/tides");
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "1");
  assert.equal(((await answer.json()) as { code: string }).code, "service_unavailable");
});

test("a path with a field has null before its first value", async (t) => {
  const { api, channels } = await publishing(t);
  const early = await api("read", "/next-tide");
  assert.deepEqual([early.status, await early.json()], [200, { tide: null }]);
  assert.equal(early.headers.get("etag"), '"0"');
  await channels.publish("sea", "next", '{"height":2}');
  assert.deepEqual(await (await api("read", "/next-tide")).json(), { tide: { height: 2 } });
  channels.remove("sea");
  assert.deepEqual(await (await api("read", "/next-tide")).json(), { tide: null });
});

test("a path needs the scope of its channel, and a token", async (t) => {
  const { api, channels, url } = await publishing(t, { scope: "admin" });
  await channels.publish("sea", "tides", "{}");
  assert.equal((await api("read", "/tides")).status, 403);
  assert.equal((await api("admin", "/tides")).status, 200);
  assert.equal((await fetch(`${url}/api/v1/tides`)).status, 401);
});

test("other methods are refused, and other paths are unknown", async (t) => {
  const { api, url } = await publishing(t);
  const answer = await api("read", "/tides", { method: "DELETE" });
  assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  assert.equal((await api("read", "/tides", { method: "OPTIONS" })).status, 204);
  assert.equal((await api("read", "/tides/1")).status, 404);
  assert.equal((await fetch(`${url}/tides`)).status, 404);
});

test("a path belongs to the first plugin that claims it, until that plugin is removed", async (t) => {
  const { api, channels, apiPaths } = await publishing(t);
  await channels.publish("sea", "tides", '{"height":3}');
  channels.admit("moon", [declared("tides")]);
  await channels.publish("moon", "tides", '{"height":9}');

  const taken = apiPaths.claim("moon", { "/tides": { channel: "tides" } });
  assert.deepEqual(
    taken.map(({ path, plugin }) => [path, plugin]),
    [["/tides", "sea"]],
  );
  assert.deepEqual(await (await api("read", "/tides")).json(), { height: 3 });

  apiPaths.release("sea");
  assert.deepEqual(await (await api("read", "/tides")).json(), { height: 9 });
  assert.equal((await api("read", "/next-tide")).status, 404);
});

test("paths are in the API's description, with the schema that the code declares", async (t) => {
  const { api, channels, apiPaths } = await publishing(t);
  const read = async () =>
    (await (await api("read", "/openapi.json")).json()) as {
      paths: Record<string, { get: { summary: string; responses: Record<string, unknown> } }>;
    };
  const { paths } = await read();
  const operation = paths["/api/v1/tides"]?.get;
  assert.equal(operation?.summary, "Read Tides");
  assert.match(JSON.stringify(operation?.responses["200"]), /"height":\{"type":"number"\}/);
  assert.ok(operation?.responses["304"] && operation.responses["503"]);

  channels.remove("sea");
  assert.match(JSON.stringify((await read()).paths["/api/v1/next-tide"]), /"tide"/);
  apiPaths.release("sea");
  assert.equal((await read()).paths["/api/v1/tides"], undefined);
});

test("events of channels are in the API's description, with the fields that the manifest names", async (t) => {
  const { api, apiPaths } = await publishing(t);
  const described = async () => {
    const { components } = (await (await api("read", "/openapi.json")).json()) as {
      components: { schemas: { Event: { anyOf: { properties: Record<string, object> }[] } } };
    };
    return components.schemas.Event.anyOf
      .map(({ properties }) => properties)
      .find(({ topic }) => JSON.stringify(topic).includes('"tides.changed"'));
  };

  assert.deepEqual(Object.keys((await described())?.["data"] ?? {}).toSorted(), [
    "properties",
    "type",
  ]);
  apiPaths.release("sea");
  assert.equal(await described(), undefined);
});

test("each value is also an event under the topic of the path", async (t) => {
  const { channels, api } = await publishing(t);
  const unknown = await api("read", "/events?topics=tides.gone");
  assert.equal(unknown.status, 422);
  const answer = await api("read", "/events?topics=tides.changed");
  const reader = answer.body?.getReader();
  t.after(() => reader?.cancel());

  await channels.publish("sea", "tides", '{"height":3,"at":"noon"}');

  let text = "";
  while (!text.includes("tides.changed")) {
    text += Buffer.from((await reader?.read())?.value ?? []).toString();
  }
  assert.match(text, /\nid: \d+\nevent: tides\.changed\ndata: \{"height":3\}\n\n$/);
});

test("plugins cannot claim paths of the host", async (t) => {
  const { parts } = await serveApp(t);
  const table = createRoutes({
    ...parts,
    prefix: "/api/v1",
    docsPage: "",
    contributed: () => [],
    metrics: {} as never,
  });
  const own = new Set(table.map(({ path }) => path.replace(/^(\/[^/]+).*$/, "$1")));
  const missing = [...own].filter((path) => !HOST_PATHS.has(path) && /^\/[a-z-]+$/.test(path));
  assert.deepEqual(missing, []);
});

test("the paths of the system and the weather are claimed by the manifests of their plugins", async (t) => {
  const { api, channels, apiPaths } = await open(t);
  for (const id of ["system", "weather"]) {
    const { manifest } = await readManifest(`plugins/${id}`);
    apiPaths.claim(id, manifest.paths);
  }
  channels.admit("system", [declared("sample")]);
  channels.admit("weather", [declared("forecast")]);
  const before = [await api("read", "/system"), await api("read", "/weather")] as const;
  assert.deepEqual([before[0].status, before[1].status], [503, 200]);
  assert.deepEqual(await before[1].json(), { forecast: null });

  await channels.publish("system", "sample", '{"sampledAt":"2026-11-20T18:00:00.000Z"}');
  await channels.publish("weather", "forecast", '{"place":null}');

  const [system, weather] = [await api("read", "/system"), await api("read", "/weather")];
  assert.equal(system.headers.get("cache-control"), "private, max-age=5");
  assert.match(system.headers.get("etag") ?? "", /^"\d+"$/);
  assert.deepEqual(await system.json(), { sampledAt: "2026-11-20T18:00:00.000Z" });
  assert.equal(await weather.text(), '{"forecast":{"place":null}}');
  assert.equal(weather.headers.get("cache-control"), "private, no-cache");
});
