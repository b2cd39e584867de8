import assert from "node:assert/strict";
import { test } from "node:test";
import { json, serveApp } from "../serve-app.ts";

const MOVIE = "/smart-home/scenes/host:scene:movie";

test("a scene is created, activated and deleted", async (t) => {
  const { api, commands } = await serveApp(t);
  const scene = { name: "Movie", targets: { "demo:light:1": { brightness: 20 } } };

  const made = await api("edit", MOVIE, json("PUT", scene));
  const activated = await api("control", `${MOVIE}/activate`, { method: "POST" });
  const removed = await api("edit", MOVIE, { method: "DELETE" });
  const gone = await api("read", MOVIE);

  assert.equal(((await made.json()) as { name: string }).name, "Movie");
  assert.equal(((await activated.json()) as { status: string }).status, "ok");
  assert.equal(commands.length, 1);
  assert.deepEqual([removed.status, await removed.text(), gone.status], [204, "", 404]);
});

test("a scene with faults is refused and not created", async (t) => {
  const { api } = await serveApp(t);

  const refused = await api("edit", MOVIE, json("PUT", { name: "", targets: {} }));
  const absent = await api("read", MOVIE);

  assert.deepEqual([refused.status, absent.status], [422, 404]);
});
