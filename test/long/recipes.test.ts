import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { readManifest } from "../../host/modules/manifest/manifest.ts";
import { blocksIn } from "../docs/guide-blocks.ts";
import { REPOSITORY, save } from "../docs/guide-home.ts";
import { emptyFolder } from "../helpers/folder.ts";

const run = promisify(execFile);

test("the code of each recipe has no type errors, and its test passes", async (t) => {
  const home = await emptyFolder(t);
  for (const part of ["node_modules", "package.json"]) {
    await symlink(join(REPOSITORY, part), join(home, part));
  }
  const text = await readFile(join(REPOSITORY, "docs/plugin-recipes.md"), "utf8");
  const written = blocksIn(text).flatMap((block) => (block.kind === "file" ? [block] : []));
  assert.equal(written.length, text.match(/^```\w/gm)?.length); // each block is a file that is tested below
  const files = written.filter(({ path }) => path.endsWith(".ts"));
  for (const { path, content } of written.filter((each) => !files.includes(each))) {
    assert.ok(path.endsWith("/package.json"), path);
    await save(home, { kind: "file", path, content });
    await readManifest(join(home, dirname(path)));
  }
  for (const file of files) await save(home, file);
  const settings = {
    extends: join(REPOSITORY, "test/host/dashboard/tsconfig.json"),
    files: files.map(({ path }) => path),
    include: [],
  };
  await writeFile(join(home, "tsconfig.json"), JSON.stringify(settings));
  const tests = files.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
  const headings = text.match(/^## /gm)?.length;
  assert.equal(tests.length, headings);

  await t.test("types", async () => {
    const types = await run(join(REPOSITORY, "node_modules/.bin/tsc"), ["-p", home]).catch(
      (failure: { stdout: string }) => failure,
    );
    assert.equal(types.stdout, "");
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  for (const path of tests) {
    await t.test(dirname(path), async () => {
      const args = ["--import", "tsx", "--test", "--test-reporter=tap", path];
      const result = await run(process.execPath, args, { cwd: home, env }).catch(
        (failure: { stdout: string }) => failure,
      );
      assert.match(result.stdout, /^# fail 0$/m, result.stdout);
    });
  }
});
