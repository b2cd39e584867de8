import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import type { Photo } from "../../../plugins/photo-widget/photos.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");
const MIB = 2 ** 20;

test("the pictures over HTTP", async (t) => {
  const data = await emptyFolder(t);
  await mkdir(join(data, "photos"));
  await writeFile(join(data, "photos/räum 1.png"), "picture");
  const host = await startHost(t, { data, plugins: ["plugins/photo-widget"] });
  await until(async () => (await host.api("/photos")).ok, { withinMs: 20_000 });

  await t.test("a picture from before is sent with its type, only with a token", async () => {
    const path = `/photos/${encodeURIComponent("räum 1.png")}`;

    const answer = await host.api(path, { scope: "read" });

    assert.equal(answer.headers.get("Content-Type"), "image/png");
    assert.equal(answer.headers.get("Content-Length"), "7");
    assert.equal(await answer.text(), "picture");
    assert.equal((await host.api(path, { scope: null })).status, 401);
    assert.equal((await host.api("/photos/..%2fsecrets.json", { scope: "read" })).status, 404);
    const photos = await photosOf(host);
    assert.deepEqual(
      photos.map(({ name }) => name),
      ["räum 1.png"],
    );
    assert.ok(Math.abs(Date.parse(photos[0]?.changedAt ?? "") - Date.now()) < 60_000);
  });

  await t.test("pictures are added and removed with the scope edit", async () => {
    const path = "/photos/a.png?album=b%20c";

    const refused = await put(host, path, PNG, "read");
    const added = await put(host, path, PNG);
    const listed = await photosOf(host);
    const removed = await host.api(path, { scope: "edit", method: "DELETE" });
    const again = await host.api(path, { scope: "edit", method: "DELETE" });

    const statuses = [refused, added, removed, again].map(({ status }) => status);
    assert.deepEqual(statuses, [403, 204, 204, 404]);
    assert.ok(listed.some(({ name, album }) => album === "b c" && name === "a.png"));
    assert.ok(!(await photosOf(host)).some(({ album }) => album !== undefined));
  });

  await t.test("a picture of 16 MiB is stored, and a larger one is refused", async () => {
    const most = Buffer.concat([PNG, Buffer.alloc(16 * MIB - PNG.length, 7)]);
    const path = "/photos/large.png";

    const refused = await announce(host, path, most.length + 1);
    const added = await put(host, path, most);

    assert.deepEqual([refused, added.status], [413, 204]);
    assert.ok((await readFile(join(host.data, "photos/large.png"))).equals(most));
    const read = await host.api(path, { scope: "read" });
    assert.ok(Buffer.from(await read.arrayBuffer()).equals(most));
    await host.api(path, { method: "DELETE" });
  });

  await t.test("a wrong name, album or content is refused", async () => {
    const refusals = [
      ["/photos/a.txt", PNG],
      ["/photos/a.png?album=.hidden", PNG],
      ["/photos/a.png?album=", PNG],
      ["/photos/a.jpg", PNG],
      ["/photos/a.png", Buffer.alloc(0)],
    ] as const;

    const answers = await Promise.all(refusals.map(([path, bytes]) => put(host, path, bytes)));

    assert.deepEqual(
      answers.map(({ status }) => status),
      [422, 422, 422, 415, 415],
    );
  });

  await t.test("a backup leaves the pictures out", async () => {
    await writeFile(join(host.data, "photos/b.png"), "picture");
    const backup = await host.api("/backup", { method: "POST", json: {} });

    assert.equal(backup.status, 200);
    assert.doesNotMatch(await backup.text(), /photos\//);
  });

  await t.test("without the plugin the path is unavailable, and the files stay", async () => {
    await host.api("/modules/photo-widget/disable", { method: "POST" });

    await until(async () => [404, 503].includes((await host.api("/photos")).status));

    assert.ok((await stat(join(host.data, "photos/räum 1.png"))).isFile());
    await writeFile(join(host.data, "photos/c.png"), "picture");
    await host.api("/modules/photo-widget/enable", { method: "POST" });
    await until(async () => (await host.api("/photos")).ok);
    const names = (await photosOf(host)).map(({ name }) => name);
    assert.deepEqual(names, ["b.png", "c.png", "räum 1.png"]);
    const module = (await (await host.api("/modules/photo-widget")).json()) as ModuleView;
    assert.equal(module.state, "active");
  });
});

async function photosOf(host: TestHost): Promise<Photo[]> {
  const answer = await host.api("/photos", { scope: "read" });
  return ((await answer.json()) as { photos: Photo[] }).photos;
}

/** The status for a body of this length, which is not sent: the host refuses it by its header. */
async function announce(host: TestHost, path: string, length: number): Promise<number | undefined> {
  const asked = request(`${host.url}/api/v1${path}`, {
    method: "PUT",
    headers: {
      Authorization: `Bearer ${await host.token("edit")}`,
      "Content-Type": "image/png",
      "Content-Length": length,
    },
  });
  asked.flushHeaders();
  const [{ statusCode }] = (await once(asked, "response")) as [IncomingMessage];
  asked.destroy();
  return statusCode;
}

function put(host: TestHost, path: string, body: Buffer, scope: "read" | "edit" = "edit") {
  const headers = { "Content-Type": "image/png" };
  return host.api(path, { scope, method: "PUT", body: new Uint8Array(body), headers });
}
