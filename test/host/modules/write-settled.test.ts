import assert from "node:assert/strict";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isWriteSettled } from "../../../host/modules/watch/write-settled.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** A plugin's folder in a home, and a function that asks about a change of one of its files. */
async function openChange(t: TestContext, folder = "lamp") {
  const home = await emptyFolder(t);
  const plugin = join(home, folder);
  await mkdir(plugin, { recursive: true });
  const file = join(plugin, "index.ts");
  const isSettled = (
    quietMs: number,
    { isUsed = true, isNew = false, ageMs = quietMs, files = [file] } = {},
  ) =>
    isWriteSettled({
      folder: plugin,
      files: new Set(files),
      quietMs,
      ageMs,
      isNew,
      concerns: (path) => isUsed && path === file,
    });
  return { home, plugin, file, isSettled };
}

test("a file with content is settled at once", async (t) => {
  const { file, isSettled } = await openChange(t);
  await writeFile(file, "a");

  assert.equal(isSettled(0), true);
});

test("an empty file is settled after 200 ms, because editors truncate before they write", async (t) => {
  const { file, isSettled } = await openChange(t);
  await writeFile(file, "");

  assert.deepEqual(
    [0, 50, 199, 200].map((ms) => isSettled(ms)),
    [false, false, false, true],
  );
});

test("a used file that is missing is settled after 50 ms, because editors move it away first", async (t) => {
  const { isSettled } = await openChange(t);

  assert.deepEqual(
    [0, 49, 50].map((ms) => isSettled(ms)),
    [false, false, true],
  );
});

test("a missing file that no module uses is settled at once", async (t) => {
  const { isSettled } = await openChange(t);

  assert.equal(isSettled(0, { isUsed: false }), true);
});

test("a new folder is settled 250 ms after its last file, or after ten seconds", async (t) => {
  const { file, isSettled } = await openChange(t);
  await writeFile(file, "a");

  assert.deepEqual(
    [0, 249, 250].map((ms) => isSettled(ms, { isNew: true })),
    [false, false, true],
  );
  assert.deepEqual(
    [9_999, 10_000].map((ageMs) => isSettled(0, { isNew: true, ageMs })),
    [false, true],
  );
});

test("a folder is settled at once", async (t) => {
  const { plugin, isSettled } = await openChange(t);

  assert.equal(isSettled(0, { files: [plugin] }), true);
});

test("a change is settled when each of its files is", async (t) => {
  const { plugin, file, isSettled } = await openChange(t);
  await writeFile(file, "a");
  const other = join(plugin, "other.ts");
  await writeFile(other, "");

  assert.equal(isSettled(0, { files: [file, other] }), false);
});

/** Makes a repository; git is at work in it while its lock file is there. */
async function lockGit(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const lock = join(folder, "index.lock");
  await writeFile(lock, "");
  return lock;
}

for (const place of ["lamp", "deep/in/it"]) {
  test(`nothing is settled while git works in the repository of ${place}`, async (t) => {
    const { home, file, isSettled } = await openChange(t, place);
    await writeFile(file, "a");

    await lockGit(join(home, ".git"));

    assert.deepEqual([isSettled(0), isSettled(10_000)], [false, false]);
  });
}

test("a repository in which git does not work is settled", async (t) => {
  const { home, file, isSettled } = await openChange(t);
  await writeFile(file, "a");

  await mkdir(join(home, ".git"));

  assert.equal(isSettled(0), true);
});

test("git in a repository further up does not count: the nearest one holds the folder", async (t) => {
  const { home, plugin, file, isSettled } = await openChange(t);
  await writeFile(file, "a");

  await lockGit(join(home, ".git"));
  await mkdir(join(plugin, ".git"));

  assert.equal(isSettled(0), true);
});

test("a lock file of ten seconds ago belongs to a git that was killed", async (t) => {
  const { home, file, isSettled } = await openChange(t);
  await writeFile(file, "a");
  const lock = await lockGit(join(home, ".git"));
  const aged = async (seconds: number) => {
    const at = Date.now() / 1_000 - seconds;
    await utimes(lock, at, at);
    return isSettled(0);
  };

  assert.deepEqual([await aged(8), await aged(10)], [false, true]);
});

for (const gitdir of [
  "gitdir: ../repository/worktrees/one\n",
  "# a comment\ngitdir: ../repository/worktrees/one",
]) {
  test(`a worktree follows its file to the repository: ${JSON.stringify(gitdir)}`, async (t) => {
    const { home, plugin, file, isSettled } = await openChange(t);
    await writeFile(file, "a");
    await writeFile(join(plugin, ".git"), gitdir);
    const before = isSettled(0);

    await lockGit(join(home, "repository/worktrees/one"));

    assert.deepEqual([before, isSettled(0)], [true, false]);
  });
}

test("a .git file that names no repository is ignored", async (t) => {
  const { plugin, file, isSettled } = await openChange(t);
  await writeFile(file, "a");
  await writeFile(join(plugin, ".git"), "xgitdir: nowhere");

  assert.equal(isSettled(0), true);
});
