import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: photo } = await import("../../../plugins/photo-widget/widget.ts");

/** Pictures as a browser would read them; a name that is not here is not a picture. */
const PICTURES: Readonly<Record<string, { width: number; height: number }>> = {
  a: { width: 4_000, height: 2_000 },
  b: { width: 300, height: 600 },
};
const answers = {
  "/photos": {
    photos: [
      { name: "a", changedAt: "2026-01-02T00:00:00Z" },
      { name: "broken", changedAt: "2026-01-01T00:00:00Z" },
      { name: "b", changedAt: "2026-01-03T00:00:00Z" },
      { name: "a", album: "Winter 1", changedAt: "2026-01-04T00:00:00Z" },
      { name: "b", album: "Winter 1", changedAt: "2026-01-02T00:00:00Z" },
    ],
  },
  "/photos/a": "a",
  "/photos/a?album=Winter%201": "a",
  "/photos/b?album=Winter%201": "b",
  "/photos/b": "b",
  "/photos/broken": "broken",
};
const config = { shuffle: false, fit: "contain" };

test("the photo frame shows the pictures in turn, small enough for its tile, and skips other files", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  readPictures();
  const { mounted, root, click, waitFor, until } = mountOnPage(t, photo, { answers, config });
  const size = () => {
    const canvas = root.querySelector("canvas");
    return [canvas?.width, canvas?.height];
  };
  await waitFor("button canvas");
  await until(() => shownBy(mounted) === "/photos/a");
  const first = size();

  click("button");
  await until(() => shownBy(mounted) === "/photos/b");

  assert.deepEqual(
    [first, size()],
    [
      [1_280, 640],
      [300, 600],
    ],
  );
  assert.equal(root.querySelector("button")?.className, "card photo contain");
});

test("the next picture comes after the seconds of the settings", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  t.mock.method(console, "warn", () => undefined);
  readPictures();
  const { mounted, until } = mountOnPage(t, photo, { answers, config: { ...config, seconds: 5 } });
  await until(() => shownBy(mounted) === "/photos/a");

  for (let seconds = 0; seconds < 4; seconds++) t.mock.timers.tick(1_000);
  const before = shownBy(mounted);
  t.mock.timers.tick(1_000);
  await until(() => shownBy(mounted) === "/photos/b");

  assert.equal(before, "/photos/a");
});

test("the newest picture comes first, if the settings say so, and an album alone is shown", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  readPictures();
  const newest = mountOnPage(t, photo, { answers, config: { ...config, order: "newest" } });
  const album = mountOnPage(t, photo, { answers, config: { ...config, album: "Winter 1" } });

  await newest.until(() => shownBy(newest.mounted) === "/photos/a?album=Winter%201");
  newest.click("button");
  await newest.until(() => shownBy(newest.mounted) === "/photos/b");
  const inAlbum: string[] = [];
  for (const name of ["a", "b", "a"]) {
    await album.until(() => shownBy(album.mounted).startsWith(`/photos/${name}`));
    inAlbum.push(shownBy(album.mounted));
    album.click("button");
  }

  assert.deepEqual(
    inAlbum,
    ["a", "b", "a"].map((name) => `/photos/${name}?album=Winter%201`),
  );
});

test("a folder without pictures, or one that cannot be read, is explained", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  const empty = mountOnPage(t, photo, { answers: { "/photos": { photos: [] } } });
  const failed = mountOnPage(t, photo);

  assert.deepEqual(await empty.waitFor("strong"), ["No pictures yet"]);
  await failed.until(() => failed.textOf(".empty")[0] !== "");
  assert.deepEqual(failed.textOf(".empty"), ["Could not load the pictures."]);
});

/** The page of these tests cannot read pictures. */
function readPictures(): void {
  globalThis.createImageBitmap = async (source: unknown) => {
    const name = JSON.parse(await (source as Blob).text()) as string;
    const picture = PICTURES[name];
    if (!picture) throw new Error("not a picture");
    return { ...picture, close: () => undefined };
  };
}

function shownBy(widget: { handOver(): { data: unknown } | undefined }): string {
  const state = widget.handOver()?.data as { shown: string };
  return state.shown;
}
