import assert from "node:assert/strict";
import { rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BuildCache } from "../../host/build-cache.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { until } from "../helpers/until.ts";

test("a build is reused until one of its files changes", async (t) => {
  const { make, file } = await source(t);

  const answers = [await make(), await make()];
  await writeFile(file, "changed");
  await olderThanNow();
  answers.push(await make(), await make());

  assert.deepEqual(answers, ["made 1", "made 1", "made 2", "made 2"]);
});

test("replacing a file with one of the same size and time is detected", async (t) => {
  const { make, file } = await source(t);
  await make();

  await writeFile(`${file}.new`, "0ther");
  await utimes(`${file}.new`, 0, 0);
  await rename(`${file}.new`, file);
  await olderThanNow();

  assert.equal(await make(), "made 2");
});

test("a missing file, another entry and a damaged record cause a new build", async (t) => {
  const { make, file, folder } = await source(t);
  await make();

  const other = await make("/elsewhere.ts");
  await writeFile(join(folder, "built/thing.json"), '{"entry":');
  const damaged = await make();
  await rm(file);
  const gone = await make();

  assert.deepEqual([other, damaged, gone], ["made 2", "made 3", "made 4"]);
});

test("a build whose files changed during the build is not cached", async (t) => {
  const { make, file } = await source(t);

  await make(file, () => writeFile(file, "saved meanwhile"));
  await olderThanNow();

  assert.equal(await make(), "made 2");
});

/** A file, and a maker that counts how often it had to make something of it. */
async function source(t: TestContext) {
  const folder = await emptyFolder(t);
  const file = join(folder, "source.ts");
  await writeFile(file, "other");
  await olderThanNow();
  const built = new BuildCache(folder);
  let count = 0;
  const make = (entry = file, meanwhile = async (): Promise<void> => undefined): Promise<string> =>
    built.orMake("thing", entry, async () => {
      await meanwhile();
      return { value: `made ${++count}`, inputs: [file] };
    });
  return { folder, file, make };
}

/** The clock of the file system may be a tick behind; a file is kept when it is surely older. */
async function olderThanNow(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() > now + 20);
}
