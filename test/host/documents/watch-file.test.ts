import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { link, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { watchFile } from "../../../host/documents/watch-file.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

test("writing the file and renaming over it are detected, other files are ignored", async (t) => {
  const assertClosed = watchResources();
  const folder = await emptyFolder(t);
  const path = join(folder, "config.json");
  const other = join(folder, "other.json");
  let changes = 0;
  let ofOther = 0;
  const end = watchFile(path, () => changes++, collectedLog());
  const endOther = watchFile(other, () => ofOther++, collectedLog());

  writeFileSync(other, "{}"); // in one step: writeFile truncates first, which is a change too
  await until(() => ofOther === 1); // it began to watch later, and waits as long
  assert.equal(changes, 0);
  endOther();
  writeFileSync(path, "{}");
  await until(() => changes === 1);
  await writeFile(join(folder, "new.json"), '{"a":1}');
  await rename(join(folder, "new.json"), path);
  await until(() => changes === 2);

  end();
  await assertClosed();
  assert.equal(changes, 2);
});

test("a write just after the file was replaced is detected", async (t) => {
  const folder = await emptyFolder(t);
  for (let waitMs = 0; waitMs <= 60; waitMs += 3) {
    const path = join(folder, `config-${waitMs}.json`);
    await writeFile(path, "first");
    let seen = "";
    const end = watchFile(path, () => (seen = readFileSync(path, "utf8")), collectedLog());

    await writeFile(join(folder, "new.json"), "second");
    await rename(join(folder, "new.json"), path);
    await delay(waitMs); // the moments at which a watcher may look at the new file
    await writeFile(path, "third");

    await until(() => seen === "third");
    end();
  }
});

test("a write through another folder is detected, also after the file was replaced", async (t) => {
  const [folder, elsewhere] = [await emptyFolder(t), await emptyFolder(t)];
  const path = join(folder, "config.json");
  await writeFile(path, "first");
  let changes = 0;
  t.after(watchFile(path, () => changes++, collectedLog()));

  await link(path, join(elsewhere, "a.json"));
  writeFileSync(join(elsewhere, "a.json"), "second");
  await until(() => changes === 1);
  await writeFile(join(folder, "new.json"), "third");
  await rename(join(folder, "new.json"), path);
  await until(() => changes === 2);
  await link(path, join(elsewhere, "b.json"));
  writeFileSync(join(elsewhere, "b.json"), "fourth");
  await until(() => changes === 3);
});

test("a folder that cannot be watched is a warning", async (t) => {
  const log = collectedLog();

  watchFile(join(await emptyFolder(t), "missing/config.json"), () => undefined, log)();

  assert.match(JSON.stringify(log.records), /cannot watch a file.*ENOENT/);
});
