import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { runCached } from "../../../plugin-sdk/runtime/compiled-code.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const CODE = `module.exports = function (require, module, exports) {
  exports.work = () => { const lists = [[1], [2]]; return lists.map((list) => list.map((n) => n * 2)).flat(); };
};`;

test("saved code includes the functions that have run, and is not saved again while it is accepted", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "code.cjs");
  await writeFile(file, CODE);
  const run = async (cache: string) => {
    await mkdir(join(folder, cache), { recursive: true });
    return runCached(file, join(folder, cache), createRequire(file));
  };
  const size = async (cache: string) => {
    const [name = ""] = await readdir(join(folder, cache));
    return (await stat(join(folder, cache, name))).size;
  };

  (await run("early")).save();
  const late = await run("late");
  (late.exports["work"] as () => void)();
  late.save();

  assert.ok((await size("late")) > (await size("early")), "work is included");
  const again = await run("early");
  assert.deepEqual((again.exports["work"] as () => number[])(), [2, 4]);
  const before = await size("early");
  again.save();
  assert.equal(await size("early"), before);
});
