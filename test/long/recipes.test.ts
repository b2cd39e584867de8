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

test("the code of each recipe has no type errors, and its tests pass", async (t) => {
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
    const types = await run(join(REPOSITORY, "node_modules/.bin/tsc"), [
      "-p",
      home,
      "--checkers",
      "1",
    ]).catch((failure: { stdout: string }) => failure);
    assert.equal(types.stdout, "");
  });
  await t.test("tests", async () => {
    // in one process, because each takes seconds to load the SDK
    await writeFile(join(home, "all.ts"), tests.map((path) => `import "./${path}";\n`).join(""));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ["--import", "tsx", "--test-reporter=tap", "all.ts"];
    const { stdout } = await run(process.execPath, args, { cwd: home, env }).catch(
      (failure: { stdout: string }) => failure,
    );
    assert.match(stdout, /^# fail 0$/m, stdout);
    const [, passed] = /^# pass (\d+)$/m.exec(stdout) ?? [];
    assert.ok(Number(passed) >= tests.length, stdout);
  });
});
