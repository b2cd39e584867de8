import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type FolderChange, Watcher } from "../../../host/modules/watch/watch.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

/** A watcher over an empty folder, and all it has told. */
async function openWatcher(t: TestContext) {
  const root = await emptyFolder(t);
  await mkdir(join(root, "lamp"));
  const assertClosed = watchResources();
  const told: (FolderChange & { at: number })[] = [];
  const watcher = new Watcher([root], {
    onChange: (change) => told.push({ ...change, at: performance.now() }),
    concerns: (path) => path.endsWith(".ts"),
    onFailure: (folder, error) => assert.fail(`${folder}: ${String(error)}`),
  });
  onTestEnd(t, async () => {
    watcher.close();
    await assertClosed();
  });
  return { root, watcher, told, files: () => told.flatMap(({ files }) => files) };
}

test("files in a new folder are reported at any depth", async (t) => {
  const { root, files } = await openWatcher(t);

  for (let round = 0; round < 20; round++) {
    const folder = join(root, `plugin${round}/deep/deeper`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "a.ts"), "a");
    await until(() => files().includes(join(folder, "a.ts")));
  }
});

test("stray files, circular links and folders that become files cause no failure", async (t) => {
  const { root, files } = await openWatcher(t);
  const loop = join(root, "lamp/loop.ts");
  const notes = join(root, "notes.txt");

  await writeFile(notes, "for people");
  await symlink("loop.ts", loop);
  await until(() => files().includes(notes) && files().includes(loop));
  await rm(join(root, "lamp"), { recursive: true });
  await writeFile(join(root, "lamp"), "a file now");
  await until(() => files().includes(join(root, "lamp")));

  await writeFile(join(root, "after.txt"), "still watched");
  await until(() => files().includes(join(root, "after.txt")));
});

test("a replaced folder is watched like the previous one", async (t) => {
  const { root, files } = await openWatcher(t);

  for (let round = 0; round < 20; round++) {
    await rm(join(root, "lamp"), { recursive: true });
    await delay(round * 4);
    await mkdir(join(root, "lamp"));
    await writeFile(join(root, "lamp", `${round}.ts`), "a");
    await until(() => files().includes(join(root, "lamp", `${round}.ts`)));
  }
});

test("changes are reported when git has written the last file", async (t) => {
  const { root, told } = await openWatcher(t);
  await mkdir(join(root, ".git"));
  await writeFile(join(root, ".git/index.lock"), "");

  await writeFile(join(root, "lamp/a.ts"), "a");
  await delay(80); // sixteen times as long as a save takes to settle
  await writeFile(join(root, "lamp/b.ts"), "b");
  const doneAt = performance.now();
  await rename(join(root, ".git/index.lock"), join(root, ".git/index"));
  await until(() => told.length > 0);

  assert.deepEqual(told[0]?.files, [join(root, "lamp/a.ts"), join(root, "lamp/b.ts")]);
  assert.ok(told[0].at > doneAt);
});

test("a used file that disappears and returns quickly is one change", async (t) => {
  const { root, told, files } = await openWatcher(t);
  const file = join(root, "lamp/a.ts");
  await writeFile(file, "a");
  await until(() => told.length > 0);
  await delay(50); // a busy machine may tell it twice
  let goneMs = Infinity;
  while (goneMs >= 50) {
    // after that time it counts as removed
    told.length = 0;
    const goneAt = performance.now();
    await rm(file);
    await delay(20);
    await writeFile(file, "b");
    goneMs = performance.now() - goneAt;
    await until(() => told.length > 0);
  }
  await writeFile(join(root, "lamp/c.ts"), "c");
  await until(() => files().includes(join(root, "lamp/c.ts")));

  const changes = told.filter((change) => change.files.includes(file));
  assert.deepEqual(
    changes.map(({ files: all }) => all),
    [[file]],
  );
});

test("an additional folder is watched until it is no longer needed", async (t) => {
  const { root, watcher, told, files } = await openWatcher(t);
  const linked = await emptyFolder(t);

  watcher.follow(new Set([linked]));
  await writeFile(join(linked, "a.ts"), "a");
  await until(() => files().includes(join(linked, "a.ts")));
  watcher.follow(new Set());
  await writeFile(join(linked, "b.ts"), "b");
  await writeFile(join(root, "lamp/c.ts"), "c");
  await until(() => files().includes(join(root, "lamp/c.ts")));

  assert.equal(told[0]?.folder, linked);
  assert.ok(!files().includes(join(linked, "b.ts")));
});

test("files that editors and tools put beside sources are not reported", async (t) => {
  const { root, files } = await openWatcher(t);
  await mkdir(join(root, "lamp/node_modules"));
  const strays = [".index.ts.swp", "index.ts~", "#index.ts#", "node_modules/a.ts", ".git"];

  for (const name of strays) await writeFile(join(root, "lamp", name), "a");
  await mkdir(join(root, ".cache"));
  await writeFile(join(root, "lamp/last.ts"), "a");
  await until(() => files().includes(join(root, "lamp/last.ts")));

  assert.deepEqual([...new Set(files())], [join(root, "lamp/last.ts")]);
});

test("a change names the plugin's folder, or the file beside the plugins", async (t) => {
  const { root, told, files } = await openWatcher(t);
  await mkdir(join(root, "lamp/deep"));
  await until(() => told.length === 1);

  await writeFile(join(root, "lamp/deep/a.ts"), "a");
  await until(() => files().includes(join(root, "lamp/deep/a.ts")));
  await writeFile(join(root, "notes.txt"), "a");
  await until(() => files().includes(join(root, "notes.txt")));

  // On a busy machine a file may be told twice: that it is there, and that it has its text.
  const folders = new Set(told.map(({ folder }) => folder));
  assert.deepEqual([...folders], [join(root, "lamp"), join(root, "notes.txt")]);
});

test("an additional folder is reported once when it is added, because it may have changed before", async (t) => {
  const { root, watcher, told } = await openWatcher(t);
  const linked = await emptyFolder(t);

  watcher.follow(new Set([linked]));
  await until(() => told.length === 1);
  watcher.follow(new Set([linked]));
  await writeFile(join(root, "lamp/a.ts"), "a");
  await until(() => told.some(({ files }) => files.includes(join(root, "lamp/a.ts"))));

  const ofLinked = told.filter(({ folder }) => folder === linked);
  assert.deepEqual(
    ofLinked.map(({ files }) => files),
    [[linked]],
  );
});

test("a root that is deleted and made again is watched like before", async (t) => {
  const { root, files } = await openWatcher(t);

  await rm(root, { recursive: true });
  await mkdir(join(root, "lamp"), { recursive: true });
  await until(() => files().includes(root));
  await writeFile(join(root, "lamp/a.ts"), "a");

  await until(() => files().includes(join(root, "lamp/a.ts")));
});

test("a folder that cannot be watched is reported with its error", async (t) => {
  const root = await emptyFolder(t);
  const failed: [folder: string, error: unknown][] = [];
  const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
  t.mock.method(fs, "watch", () => {
    throw error;
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });

  const watcher = new Watcher([root], {
    onChange: () => assert.fail("nothing is watched"),
    concerns: () => false,
    onFailure: (folder, cause) => failed.push([folder, cause]),
  });
  watcher.close();

  assert.deepEqual(failed, [
    [dirname(root), error],
    [root, error],
  ]);
});
