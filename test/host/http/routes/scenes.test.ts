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

interface Listed {
  readonly scenes: readonly { readonly id: string }[];
  readonly revision: number;
}

test("scenes are listed in the order that a user set, under a new tag", async (t) => {
  const { api } = await serveApp(t);
  const ids = ["host:scene:movie", "host:scene:away"];
  for (const id of ids) {
    const scene = { name: id, targets: { "demo:light:1": { on: true } } };
    await api("edit", `/smart-home/scenes/${id}`, json("PUT", scene));
  }
  const list = async (ifNoneMatch = "") =>
    api("read", "/smart-home/scenes", { headers: { "if-none-match": ifNoneMatch } });
  const before = (await list()).headers.get("etag") ?? "";
  const order = (scope: "control" | "edit", scenes: readonly string[], ifMatch?: string) => {
    const init = json("PUT", { scenes });
    const headers = new Headers(init.headers);
    if (ifMatch !== undefined) headers.set("if-match", ifMatch);
    return api(scope, "/smart-home/scenes/order", { ...init, headers });
  };

  const ordered = await order("edit", ids.toReversed(), before);
  const stale = await order("edit", ids, before);
  const forbidden = await order("control", ids);
  const refused = await order("edit", ["host:scene:away", "host:scene:gone", "host:scene:away"]);
  const after = await list(before);

  const answer = (await ordered.json()) as Listed;
  assert.deepEqual(
    answer.scenes.map(({ id }) => id),
    ids.toReversed(),
  );
  assert.deepEqual(await after.json(), answer);
  assert.equal(after.headers.get("etag"), ordered.headers.get("etag"));
  assert.deepEqual(
    [ordered, stale, forbidden, refused, after].map(({ status }) => status),
    [200, 412, 403, 422, 200],
  );
  const { errors } = (await refused.json()) as { errors: { pointer: string }[] };
  assert.deepEqual(
    errors.map(({ pointer }) => pointer),
    ["/scenes/1", "/scenes/2"],
  );
});
