import assert from "node:assert/strict";
import { test } from "node:test";
import { json, serveApp } from "./serve-app.ts";

test("a client with the current revision gets 304 without a body, in every notation of the tag", async (t) => {
  const { api } = await serveApp(t);
  const first = await api("read", "/smart-home/devices");
  const etag = first.headers.get("etag") ?? "";
  const { revision } = (await first.json()) as { revision: number };
  const tags = [etag, `W/${etag}`, `"1", ${etag}`, "*", '"1"', etag.slice(1), ""];

  const answers = await Promise.all(
    tags.map((tag) => api("read", "/smart-home/devices", { headers: { "if-none-match": tag } })),
  );

  assert.equal(etag, `"${revision}"`);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [304, 304, 304, 304, 200, 200, 200],
  );
  assert.equal(await answers[0]?.text(), "");
  assert.equal(answers[0]?.headers.get("etag"), etag);
});

test("a change gives another ETag", async (t) => {
  const { api } = await serveApp(t);
  const before = (await api("read", "/smart-home/devices")).headers.get("etag") ?? "";

  await api("control", "/smart-home/devices/demo:light:1/command", json("POST", { on: true }));
  await api("control", "/smart-home/devices/demo:light:1/command", json("POST", { on: false }));

  const after = await api("read", "/smart-home/devices", { headers: { "if-none-match": before } });
  assert.equal(after.status, 200);
  assert.notEqual(after.headers.get("etag"), before);
});

test("config, layout, scenes and devices have ETags and must not be cached", async (t) => {
  const { api } = await serveApp(t);
  const paths = ["/config", "/layout", "/smart-home/scenes", "/smart-home/devices"];

  const answers = await Promise.all(paths.map((path) => api("read", path)));

  for (const answer of answers) {
    const { revision } = (await answer.json()) as { revision: number };
    assert.equal(answer.headers.get("etag"), `"${revision}"`);
    assert.equal(answer.headers.get("cache-control"), "private, no-cache");
  }
});
