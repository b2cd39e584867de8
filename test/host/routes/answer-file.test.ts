import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, mkdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openAnswerFile, readyAnswer } from "../../../host/routes/answer-file.ts";
import { WrongAnswer } from "../../../host/routes/answer.ts";
import { emptyFolder } from "../../helpers/folder.ts";

async function openHome(t: TestContext) {
  const home = await emptyFolder(t);
  const photos = join(home, "photos");
  await mkdir(join(photos, "2026"), { recursive: true });
  await writeFile(join(photos, "2026", "porch.jpg"), "a picture");
  await writeFile(join(home, "keys.json"), "secret");
  return { home, photos };
}

test("a file in one of the folders is opened with its size", async (t) => {
  const { photos } = await openHome(t);
  const answer = { status: 200, headers: {}, file: join(photos, "2026", "porch.jpg") };

  const { file, status } = await readyAnswer(answer, ["/missing", photos]);

  assert.equal(status, 200);
  assert.equal(file?.bytes, 9);
  assert.equal(await file.handle.readFile("utf8"), "a picture");
  await file.handle.close();
});

test("an answer without a file stays as it is", async () => {
  const answer = { status: 204, headers: { etag: '"1"' } };

  assert.deepEqual(await readyAnswer(answer, []), answer);
});

const REFUSED: Readonly<Record<string, (photos: string, home: string) => Promise<string>>> = {
  "a missing file": async (photos) => join(photos, "none.jpg"),
  "a file elsewhere": async (_, home) => join(home, "keys.json"),
  "a path that leaves the folder": async (photos) => `${photos}/../keys.json`,
  "a link": async (photos, home) => {
    await symlink(join(home, "keys.json"), join(photos, "link.jpg"));
    return join(photos, "link.jpg");
  },
  "a file behind a linked folder": async (photos, home) => {
    await symlink(home, join(photos, "up"));
    return join(photos, "up", "keys.json");
  },
  "the folder itself": async (photos) => photos,
  "a folder": async (photos) => join(photos, "2026"),
  "a pipe that nobody writes to": async (photos) => {
    execFileSync("mkfifo", [join(photos, "pipe")]);
    return join(photos, "pipe");
  },
  "a file above the limit": async (photos) => {
    await writeFile(join(photos, "large"), "");
    await truncate(join(photos, "large"), 64 * 2 ** 20 + 1);
    return join(photos, "large");
  },
};

for (const [name, prepare] of Object.entries(REFUSED)) {
  test(`${name} is refused`, async (t) => {
    const { home, photos } = await openHome(t);
    const path = await prepare(photos, home);

    await assert.rejects(openAnswerFile(path, [photos]), WrongAnswer);
  });
}

const noProc = process.platform !== "linux" && "only Linux tells the place of an open file";

test(
  "a folder that is exchanged for a link at any moment does not give away other files",
  { skip: noProc },
  async (t) => {
    const { home, photos } = await openHome(t);
    const elsewhere = join(home, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, "porch.jpg"), "secret");
    await symlink(elsewhere, join(photos, "link"));
    const folder = join(photos, "2026");
    const ended = new AbortController();
    const exchanging = (async () => {
      while (!ended.signal.aborted) {
        await rename(folder, join(photos, "away"));
        await rename(join(photos, "link"), folder);
        await rename(folder, join(photos, "link"));
        await rename(join(photos, "away"), folder);
      }
    })();

    let opened = 0;
    for (let round = 0; round < 500; round++) {
      const file = await openAnswerFile(join(folder, "porch.jpg"), [photos]).catch(() => undefined);
      if (!file) continue;
      opened++;
      assert.equal(await file.handle.readFile("utf8"), "a picture");
      await file.handle.close();
    }
    ended.abort();
    await exchanging;

    assert.ok(opened > 0);
  },
);

test("a second name of a file is as good as the first", async (t) => {
  const { photos } = await openHome(t);
  await link(join(photos, "2026", "porch.jpg"), join(photos, "same.jpg"));

  const { handle } = await openAnswerFile(join(photos, "same.jpg"), [photos]);

  assert.equal(await handle.readFile("utf8"), "a picture");
  await handle.close();
});
