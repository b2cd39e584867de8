import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/photo-widget/index.ts";
import {
  listRoute,
  putRoute,
  readRoute,
  removeRoute,
} from "../../../plugins/photo-widget/routes.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");

test("a picture is added, listed, answered as its file, and removed", async (t) => {
  const photos = await emptyFolder(t);
  const running = await startPlugin(plugin, { folders: { photos } });
  t.after(() => running.stop());
  const query = { album: "Holiday" };
  const params = { name: "a.png" };
  const names = async () => {
    const { json } = await running.request(listRoute);
    return (json as { photos: { album?: string; name: string }[] }).photos.map(
      ({ album, name }) => `${album}/${name}`,
    );
  };

  const added = await running.request(putRoute, { params, query, bytes: PNG });
  const listed = await names();
  const read = await running.request(readRoute, { params, query });
  const content = await readFile(read.file ?? "");
  const removed = await running.request(removeRoute, { params, query });

  assert.deepEqual([added.status, removed.status], [204, 204]);
  assert.deepEqual([listed, await names()], [["Holiday/a.png"], []]);
  assert.equal(read.type, "image/png");
  assert.deepEqual(content, PNG);
  await assert.rejects(running.request(readRoute, { params, query }), { code: "not_found" });
});

test("the folder of the pictures is left out of backups", async (t) => {
  const photos = await emptyFolder(t);
  const running = await startPlugin(plugin, { folders: { photos } });
  t.after(() => running.stop());

  assert.ok((await stat(join(photos, ".nobackup"))).isFile());
});
