import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Photos } from "../../../plugins/photo-widget/photos.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("pictures of the folder are listed by name, and nothing else is", async (t) => {
  const { photos, folder } = await openPhotos(t);
  for (const name of ["b.JPG", "a.png", "notes.txt", "x.svg", ".hidden.png"]) {
    await writeFile(join(folder, name), "x");
  }
  await mkdir(join(folder, "album.png"));
  await symlink("/etc/passwd", join(folder, "link.png"));

  assert.deepEqual(await namesOf(photos), ["a.png", "b.JPG"]);
});

test("folders are albums, but not hidden ones, links, and folders in albums", async (t) => {
  const { photos, folder, data } = await openPhotos(t);
  await writeFile(join(folder, "z.png"), "x");
  for (const album of ["Holiday", "2025", ".hidden", "Holiday/deeper"]) {
    await mkdir(join(folder, album), { recursive: true });
    await writeFile(join(folder, album, "a.png"), "x");
  }
  await mkdir(join(data, "other"));
  await writeFile(join(data, "other/secret.png"), "secret");
  await symlink(join(data, "other"), join(folder, "linked"));

  assert.deepEqual(
    (await photos.list()).map(({ name, album }) => [album, name]),
    [
      [undefined, "z.png"],
      ["2025", "a.png"],
      ["Holiday", "a.png"],
    ],
  );
  for (const album of ["linked", ".hidden", "Holiday/deeper", "..", "none"]) {
    await assert.rejects(photos.find("secret.png", album), { code: "not_found" }, album);
    await assert.rejects(photos.remove("a.png", album), { code: "not_found" }, album);
  }
});

test("an album comes with its first picture and goes with its last one", async (t) => {
  const { photos, folder } = await openPhotos(t);

  await photos.write("a.png", PNG, "Räume 1");
  const found = await photos.find("a.png", "Räume 1");
  await photos.write("b.png", PNG, "Räume 1");
  await photos.remove("a.png", "Räume 1");
  const left = await photos.list();
  await photos.remove("b.png", "Räume 1");

  assert.deepEqual(found, { path: join(folder, "Räume 1/a.png"), type: "image/png" });
  assert.deepEqual(
    left.map(({ name, album }) => [name, album]),
    [["b.png", "Räume 1"]],
  );
  assert.deepEqual(await readdir(folder), []);
});

test("a name that cannot be an album is refused, and nothing is stored", async (t) => {
  const { photos, folder, data } = await openPhotos(t);
  await symlink(data, join(folder, "linked"));
  await writeFile(join(folder, "file"), "");

  for (const album of ["..", "a/b", ".a", "a\0", "ä".repeat(120)]) {
    await assert.rejects(
      photos.write("a.png", PNG, album),
      { code: "invalid", message: /at most 200 bytes without slashes/ },
      album,
    );
  }
  for (const album of ["linked", "file"]) {
    await assert.rejects(
      photos.write("a.png", PNG, album),
      { code: "invalid", message: /a file or a link has this name/ },
      album,
    );
  }

  assert.deepEqual((await readdir(folder)).toSorted(), ["file", "linked"]);
});

test("a path outside the folder, a link and an oversized file are not found", async (t) => {
  const { photos, folder, data } = await openPhotos(t);
  await writeFile(join(data, "secret.png"), "secret");
  await symlink(join(data, "secret.png"), join(folder, "link.png"));
  await writeFile(join(folder, "large.png"), "");
  await truncate(join(folder, "large.png"), 65 * 2 ** 20);

  for (const name of ["../secret.png", "link.png", "large.png", "a\0.png", "none.png", "a.txt"]) {
    await assert.rejects(photos.find(name), { code: "not_found" }, name);
  }
});

const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");

test("a picture is added, replaced and removed", async (t) => {
  const { photos, folder } = await openPhotos(t);

  await photos.write("räum.png", PNG);
  await photos.write("räum.png", Buffer.concat([PNG, PNG]));
  const stored = await readFile(join(folder, "räum.png"));
  await photos.remove("räum.png");

  assert.equal(stored.length, 2 * PNG.length);
  assert.deepEqual(await readdir(folder), []);
  await assert.rejects(photos.remove("räum.png"), { code: "not_found" });
});

for (const name of [
  "../a.png",
  "a/b.png",
  ".a.png",
  "a.svg",
  "a.txt",
  `${"ä".repeat(99)}.png`,
  "a\0.png",
]) {
  test(`nothing is stored under the name ${JSON.stringify(name).slice(0, 20)}`, async (t) => {
    const { photos, folder, data } = await openPhotos(t);

    await assert.rejects(photos.write(name, PNG), { code: "invalid" });

    assert.deepEqual([await readdir(folder), await readdir(data)], [[], ["photos"]]);
  });
}

test("a file whose content is not of the type in its name is refused", async (t) => {
  const { photos, folder } = await openPhotos(t);

  for (const name of ["a.jpg", "a.webp", "a.avif", "a.gif"]) {
    await assert.rejects(photos.write(name, PNG), { code: "unsupported_media_type" }, name);
  }
  await assert.rejects(photos.write("a.png", Buffer.from("<svg onload=alert(1)>")), {
    code: "unsupported_media_type",
  });

  assert.deepEqual(await readdir(folder), []);
});

test("a link in the folder is neither written through nor removed", async (t) => {
  const { photos, folder, data } = await openPhotos(t);
  await writeFile(join(data, "other.png"), "other");
  await symlink(join(data, "other.png"), join(folder, "link.png"));

  await assert.rejects(photos.remove("link.png"), { code: "not_found" });
  await photos.write("link.png", PNG);

  assert.equal(await readFile(join(data, "other.png"), "utf8"), "other");
  assert.equal((await lstat(join(folder, "link.png"))).isFile(), true);
});

test("temporary files of an interrupted upload are gone after the next start", async (t) => {
  const { folder, data } = await openPhotos(t);
  await writeFile(join(folder, ".a.png.0123456789ab.tmp"), "half");

  await Photos.open(join(data, "photos"));

  assert.deepEqual(await readdir(folder), []);
});

test("a removed folder has no pictures", async (t) => {
  const data = await emptyFolder(t);
  const photos = await Photos.open(join(data, "deeper/photos"));

  assert.deepEqual(await photos.list(), []);
});

async function namesOf(photos: Photos): Promise<string[]> {
  return (await photos.list()).map(({ name }) => name);
}

async function openPhotos(t: TestContext) {
  const data = await emptyFolder(t);
  const photos = await Photos.open(join(data, "photos"));
  return { photos, data, folder: join(data, "photos") };
}
