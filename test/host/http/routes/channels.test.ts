import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import { serveApp } from "../serve-app.ts";

const declared = (name: string, change: Partial<DeclaredChannel> = {}): DeclaredChannel => ({
  name,
  schema: {},
  title: "Its title",
  maxBytes: 1_000,
  scope: "read",
  keep: false,
  ...change,
});

async function open(t: TestContext) {
  const app = await serveApp(t);
  const { channels } = app.parts;
  channels.admit("news", [declared("headlines"), declared("private", { scope: "admin" })]);
  channels.settle("news");
  const get = async (path: string, scope: "read" | "admin", headers: Record<string, string> = {}) =>
    fetch(`${app.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${await app.token(scope)}`, ...headers },
    });
  return { ...app, channels, get };
}

test("channels are listed with their schema, as far as the token may read them", async (t) => {
  const { channels, get } = await open(t);
  await channels.publish("news", "headlines", '["Rain"]');
  const { current } = channels.find("news", "headlines") ?? {};
  const headlines = {
    plugin: "news",
    name: "headlines",
    title: "Its title",
    titles: { de: "Sein Titel" },
    schema: {},
    scope: "read",
    revision: current?.revision,
    updatedAt: current?.updatedAt,
  };
  const hidden = { ...headlines, name: "private", scope: "admin", revision: null, updatedAt: null };

  assert.deepEqual(await (await get("/channels", "read")).json(), { channels: [headlines] });
  assert.deepEqual(await (await get("/channels", "admin")).json(), {
    channels: [headlines, hidden],
  });
});

test("a channel has its last value, an ETag and 304", async (t) => {
  const { channels, get } = await open(t);
  const path = "/channels/news/headlines";
  const empty = { plugin: "news", name: "headlines", value: null, revision: null, updatedAt: null };
  assert.deepEqual(await (await get(path, "read")).json(), empty);

  await channels.publish("news", "headlines", '["Räin"]');
  const answer = await get(path, "read");
  const etag = answer.headers.get("etag") ?? "";
  const { current } = channels.find("news", "headlines") ?? {};
  assert.deepEqual(await answer.json(), {
    ...empty,
    value: ["Räin"],
    revision: current?.revision,
    updatedAt: current?.updatedAt,
  });
  assert.equal(etag, `"${current?.revision}"`);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);

  assert.equal((await get(path, "read", { "if-none-match": etag })).status, 304);
  await channels.publish("news", "headlines", '["Sun"]');
  assert.equal((await get(path, "read", { "if-none-match": etag })).status, 200);
});

test("a channel needs its own scope", async (t) => {
  const { get } = await open(t);
  const answer = await get("/channels/news/private", "read");
  assert.equal(answer.status, 403);
  assert.equal(((await answer.json()) as { code: string }).code, "insufficient_scope");
  assert.equal((await get("/channels/news/private", "admin")).status, 200);
});

test("a channel that nobody provides is 404, and a malformed name 400", async (t) => {
  const { get } = await open(t);
  for (const path of ["/channels/news/nothing", "/channels/nobody/headlines"]) {
    const answer = await get(path, "admin");
    assert.equal(answer.status, 404);
    const problem = (await answer.json()) as { code: string; detail: string };
    assert.equal(problem.code, "channel_unknown");
    assert.match(problem.detail, /no plugin provides .*; GET \/channels lists those there are/);
  }
  for (const path of ["/channels/news/__proto__", "/channels/__proto__/x", "/channels/a/b%2Fc"]) {
    assert.equal((await get(path, "admin")).status, 400, path);
  }
});

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
}

/** Follows a stream until it has had this many events. */
async function follow(
  t: TestContext,
  { get }: Awaited<ReturnType<typeof open>>,
  {
    query = "",
    scope = "read",
    headers = {},
  }: { query?: string; scope?: "read" | "admin"; headers?: Record<string, string> },
) {
  const answer = await get(`/events${query}`, scope, headers);
  assert.equal(answer.status, 200);
  const reader = answer.body?.getReader();
  t.after(() => reader?.cancel());
  let text = "";
  return async (count: number): Promise<readonly Message[]> => {
    for (;;) {
      const messages = text
        .split("\n\n")
        .slice(0, -1)
        .map((each) => {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(each)?.[1];
          return { id: field("id"), event: field("event"), data: field("data") };
        });
      const events = messages.filter(({ event }) => event !== undefined);
      if (events.length >= count) return events;
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
      assert.equal(done, false, text);
      text += Buffer.from(value ?? []).toString();
    }
  };
}

const valueOf = ({ data = "" }: Message): unknown => (JSON.parse(data) as { value: unknown }).value;

test("the event stream has each value of the channels that the token may read", async (t) => {
  const app = await open(t);
  const { channels } = app;
  const [reading, all] = await Promise.all([
    follow(t, app, {}),
    follow(t, app, { scope: "admin" }),
  ]);
  await channels.publish("news", "private", '"secret"');
  await channels.publish("news", "headlines", '["Rain"]');

  assert.deepEqual((await all(2)).map(valueOf), ["secret", ["Rain"]]);
  const [event] = await reading(1);
  const { current } = channels.find("news", "headlines") ?? {};
  assert.deepEqual(event, {
    id: undefined,
    event: "channel",
    data: `{"plugin":"news","name":"headlines","value":["Rain"],"revision":${current?.revision},"updatedAt":"${current?.updatedAt}"}`,
  });
});

test("a stream can follow only some topics and channels", async (t) => {
  const app = await open(t);
  const { channels, parts } = app;
  channels.admit("news", [declared("headlines"), declared("other")]);
  const some = await follow(t, app, { query: "?channels=news/headlines&topics=channel" });
  const none = await follow(t, app, { query: "?topics=layout.changed,channel&channels=a/b" });
  await channels.publish("news", "other", "1");
  await channels.publish("news", "headlines", "2");
  await parts.layout.replace({ ...parts.layout.current, name: "Changed" });

  assert.deepEqual((await some(1)).map(valueOf), [2]);
  assert.deepEqual(
    (await none(1)).map(({ event }) => event),
    ["layout.changed"],
  );
});

test("a client that comes back gets the latest value of what changed, and what is gone", async (t) => {
  const app = await open(t);
  const { channels, parts } = app;
  channels.admit("news", [declared("headlines"), declared("gone"), declared("before")]);
  channels.settle("news");
  await channels.publish("news", "before", '"before"');
  const first = await follow(t, app, { query: "?topics=layout.changed" });
  await parts.layout.replace({ ...parts.layout.current, name: "One" });
  await parts.layout.replace({ ...parts.layout.current, name: "Two" });
  const id = (await first(2)).at(-1)?.id ?? "";
  for (const rank of [1, 2, 3]) await channels.publish("news", "headlines", String(rank));
  await channels.publish("news", "gone", '"gone"');
  channels.admit("news", [declared("headlines"), declared("before")]);
  channels.settle("news");

  const again = await follow(t, app, { headers: { "last-event-id": id } });

  const events = await again(2);
  assert.deepEqual(
    events.map(({ event, data }) => [event, (JSON.parse(data ?? "") as { name: string }).name]),
    [
      ["channel", "gone"],
      ["channel", "headlines"],
    ],
  );
  assert.deepEqual(events.map(valueOf), [undefined, 3]);
});
