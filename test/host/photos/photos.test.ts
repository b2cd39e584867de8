import assert from "node:assert/strict";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Photos } from "../../../host/photos/photos.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { serveApp } from "../http/serve-app.ts";

test("pictures of the folder are listed by name, and nothing else is", async (t) => {
  const { photos, folder } = await openPhotos(t);
  for (const name of ["b.JPG", "a.png", "notes.txt", "x.svg", ".hidden.png"]) {
    await writeFile(join(folder, name), "x");
  }
  await mkdir(join(folder, "album.png"));
  await symlink("/etc/passwd", join(folder, "link.png"));

  assert.deepEqual(await photos.list(), ["a.png", "b.JPG"]);
});

test("a path outside the folder, a link and an oversized file are not found", async (t) => {
  const { photos, folder, data } = await openPhotos(t);
  await writeFile(join(data, "secret.png"), "secret");
  await symlink(join(data, "secret.png"), join(folder, "link.png"));
  await writeFile(join(folder, "large.png"), "");
  await truncate(join(folder, "large.png"), 65 * 2 ** 20);

  for (const name of ["../secret.png", "link.png", "large.png", "a\0.png", "none.png", "a.txt"]) {
    await assert.rejects(photos.read(name), { code: "not_found" }, name);
  }
});

test("a picture is sent with its type, only with a token", async (t) => {
  const { api, data } = await serveApp(t);
  await writeFile(join(data, "photos/räum 1.png"), "picture");
  const path = `/photos/${encodeURIComponent("räum 1.png")}`;

  const answer = await api("read", path);

  assert.equal(answer.headers.get("Content-Type"), "image/png");
  assert.equal(await answer.text(), "picture");
  assert.equal((await api(null, path)).status, 401);
  assert.equal((await api("read", "/photos/..%2fsecrets.json")).status, 404);
  assert.deepEqual(await (await api("read", "/photos")).json(), {
    photos: [{ name: "räum 1.png" }],
  });
});

test("a removed folder has no pictures", async (t) => {
  const data = await emptyFolder(t);
  const photos = await Photos.open(join(data, "deeper"));

  assert.deepEqual(await photos.list(), []);
});

async function openPhotos(t: TestContext) {
  const data = await emptyFolder(t);
  const photos = await Photos.open(data);
  return { photos, data, folder: join(data, "photos") };
}
