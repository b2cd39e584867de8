import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../helpers/until.ts";
import { serveApp } from "../serve-app.ts";

test("the stream reports the events of the home to readers with permission", async (t) => {
  const { api, bus } = await serveApp(t);

  const response = await api("read", "/events?topics=layout.changed,device.state");
  const text = collect(response);
  bus.emit("device.removed", { id: "demo:light:1" });
  bus.emit("layout.changed", { revision: 3 });

  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  await until(() => /event: layout\.changed\ndata: \{"revision":3\}\n\n/.test(text()));
  assert.ok(!text().includes("device.removed"));
});

test("a reconnecting client gets the missed events", async (t) => {
  const { api, bus } = await serveApp(t);
  const first = collect(await api("read", "/events"));
  await until(() => first().includes("id: "));
  const id = /id: (\d+)/.exec(first())?.[1] ?? "";
  bus.emit("layout.changed", { revision: 3 });

  const second = collect(await api("read", "/events", { headers: { "last-event-id": id } }));

  await until(() => second().includes('"revision":3'));
});

test("records of modules go to streams that ask for them with the scope admin", async (t) => {
  const { api, bus } = await serveApp(t);
  const entry = { at: "2026-01-01T00:00:00.000Z", level: "warn", sentence: "it is hot" } as const;

  const refused = await api("edit", "/events?topics=layout.changed,module.log");
  const asked = collect(await api("admin", "/events?topics=module.log"));
  const all = collect(await api("admin", "/events"));
  bus.emit("module.log", { module: "demo", entry });
  bus.emit("layout.changed", { revision: 3 });

  assert.equal(refused.status, 403);
  await until(() => all().includes("layout.changed"));
  assert.ok(!all().includes("module.log"));
  const frame = `event: module.log\ndata: ${JSON.stringify({ module: "demo", entry })}\n\n`;
  await until(() => asked().endsWith(`\n\n${frame}`));
});

test("an unknown topic is 422, and HEAD opens no stream", async (t) => {
  const { api } = await serveApp(t);

  const unknown = await api("read", "/events?topics=layout.changed,nothing");
  const head = await api("read", "/events", { method: "HEAD" });

  assert.equal(unknown.status, 422);
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});

test("a stream ends within seconds when its token is revoked", async (t) => {
  const { api, tokens } = await serveApp(t);
  const response = await api("read", "/events");
  const text = collect(response);
  await until(() => text() !== "");

  await tokens.revoke("read");

  await until(() => text().endsWith("[ended]"), { withinMs: 3_000 });
});

test("a token above its stream limit is refused, and others are not", async (t) => {
  const { api } = await serveApp(t);
  await Promise.all(Array.from({ length: 32 }, () => api("read", "/events")));

  const response = await api("read", "/events");

  assert.equal(response.status, 429);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(response.headers.get("retry-after"), "2");
  assert.match(await response.text(), /already has 32 open event streams/);
  assert.equal((await api("control", "/events")).status, 200);
});

test("a stream follows the channels that it brings, under their own topics too, until it ends", async (t) => {
  const { api, parts } = await serveApp(t);
  const { channels, apiPaths } = parts;
  apiPaths.claim("sea", { "/tides": { channel: "tides", event: { topic: "tides.changed" } } });
  const schema = {};
  const declared = { name: "tides", schema, title: "", maxBytes: 9, keep: false } as const;
  channels.admit("sea", [{ ...declared, scope: "read" }]);
  const isFollowed = async (query: string) => {
    const ending = new AbortController();
    await api("read", `/events${query}`, { signal: ending.signal });
    const is = channels.isFollowed("sea");
    ending.abort();
    await until(() => !channels.isFollowed("sea"));
    return is;
  };

  const queries = {
    "": true,
    "?topics=channel": true,
    "?topics=tides.changed": true,
    "?topics=tides.changed&channels=news/headlines": true,
    "?topics=channel&channels=sea/tides,news/headlines": true,
    "?topics=channel&channels=news/headlines": false,
    "?topics=device.state": false,
    "?topics=device.state&channels=sea/tides": false,
  };
  for (const [query, is] of Object.entries(queries)) {
    assert.equal(await isFollowed(query), is, query);
  }
});

/** Gives the text that has come so far; `[ended]` at its end once nothing more can. */
function collect({ body }: Response): () => string {
  let text = "";
  const decoder = new TextDecoder();
  void (async () => {
    for await (const bytes of body ?? []) text += decoder.decode(bytes);
    text += "[ended]";
  })();
  return () => text;
}
