import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { watchFile } from "../../../host/documents/watch-file.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

test("writing the file and renaming over it are detected, other files are ignored", async (t) => {
  const assertClosed = watchResources();
  const folder = await emptyFolder(t);
  const path = join(folder, "config.json");
  let changes = 0;
  const end = await watchFile(path, () => changes++, collectedLog());

  await writeFile(join(folder, "other.json"), "{}");
  await writeFile(path, "{}");
  await until(() => changes === 1);
  await writeFile(join(folder, "new.json"), '{"a":1}');
  await rename(join(folder, "new.json"), path);
  await until(() => changes === 2);

  await end();
  await assertClosed();
  assert.equal(changes, 2);
});
