import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { tsProjects } from "../../scripts/dev/external-plugins.ts";
import { emptyFolder } from "../helpers/folder.ts";

test("a plugin elsewhere is checked with its own settings, once its SDK is installed", async (t) => {
  const [elsewhere, place] = [await emptyFolder(t), await emptyFolder(t)];
  const folders = ["own", "bare"].map((id) => join(elsewhere, id));
  for (const folder of folders) {
    const id = folder.endsWith("own") ? "own" : "bare";
    await mkdir(folder);
    const mantel = { id, kinds: ["service"], server: "index.ts" };
    await writeFile(join(folder, "package.json"), JSON.stringify({ mantel }));
    await writeFile(join(folder, "index.ts"), "");
  }
  const own = join(elsewhere, "own/tsconfig.json");
  await writeFile(own, "{}");
  const generated = join(place, "node.json");
  const filesOf = async () =>
    (JSON.parse(await readFile(generated, "utf8")) as { files: string[] }).files;

  assert.deepEqual(await tsProjects([elsewhere], place), [generated]);
  assert.equal((await filesOf()).length, 2);
  await mkdir(join(elsewhere, "own/node_modules/@mantel/plugin-sdk"), { recursive: true });

  assert.deepEqual(await tsProjects([elsewhere], place), [own, generated]);
  assert.deepEqual(await filesOf(), [join(elsewhere, "bare/index.ts")]);
});
