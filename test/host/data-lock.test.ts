import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { lockDataFolder } from "../../host/data-lock.ts";
import { emptyFolder } from "../helpers/folder.ts";

test("a locked folder contains one lock file, an unlocked one none", async (t) => {
  const folder = await emptyFolder(t);

  const unlock = await lockDataFolder(folder);
  const locked = await readdir(folder);
  await unlock();

  assert.equal(locked.length, 1);
  assert.deepEqual(await readdir(folder), []);
});

test("locks of ended processes, or with a reused pid, are removed", async (t) => {
  const folder = await emptyFolder(t);
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  await writeFile(join(folder, `.host-${child.pid}-123.lock`), "");
  await writeFile(join(folder, `.host-${process.ppid}-1.lock`), "");

  await lockDataFolder(folder);

  const [own, ...others] = await readdir(folder);
  assert.match(own ?? "", new RegExp(`^\\.host-${process.pid}-`));
  assert.deepEqual(others, []);
});

test("the lock of a running process is respected without leaving own files", async (t) => {
  const folder = await emptyFolder(t);
  const held = `.host-${process.ppid}-0.lock`; // as where there is no /proc to tell its start
  await writeFile(join(folder, held), "");

  await assert.rejects(lockDataFolder(folder), {
    code: "invalid",
    message: new RegExp(`in use by another Mantel \\(process ${process.ppid}\\); .+--data`),
  });

  assert.deepEqual(await readdir(folder), [held]);
});
