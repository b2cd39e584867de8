import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { blocksIn } from "../docs/guide-blocks.ts";
import { linkParts, readGuide, REPOSITORY, save } from "../docs/guide-home.ts";
import { emptyFolder } from "../helpers/folder.ts";

const TSC = join(REPOSITORY, "node_modules/.bin/tsc");
const PLUGIN = "plugins/garden-bridge";
/** The compiler settings of the repository, and which of the reader's files they are for. */
const SETTINGS = {
  "tsconfig.json": [
    `${PLUGIN}/index.ts`,
    `test/${PLUGIN}/index.test.ts`,
    `test/${PLUGIN}/conformance.test.ts`,
    "plugins/garden-news/index.ts",
    "plugins/garden-log/index.ts",
    "test/plugins/garden-news/index.test.ts",
    "plugins/garden-butler/index.ts",
    "test/plugins/garden-butler/index.test.ts",
    "plugins/garden-view/index.ts",
    "test/garden-view.test.ts",
  ],
  "host/dashboard/tsconfig.json": [`${PLUGIN}/widget.ts`],
};

test("the code of each step of the plugin guide has no type errors", async (t) => {
  const home = await emptyFolder(t);
  await linkParts(home, ["node_modules", "package.json"]);

  for (const page of await readGuide()) {
    for (const block of blocksIn(page)) if (block.kind !== "commands") await save(home, block);
    await checkTypes(home);
  }
});

async function checkTypes(home: string): Promise<void> {
  const project = join(home, "tsconfig.json");
  for (const [base, all] of Object.entries(SETTINGS)) {
    const files = all.filter((file) => existsSync(join(home, file)));
    if (files.length === 0) continue;
    const settings = { extends: join(REPOSITORY, base), files, include: [] };
    await writeFile(project, JSON.stringify(settings));
    const { stdout } = await promisify(execFile)(TSC, ["-p", project]).catch(
      (failure: { stdout: string }) => failure,
    );
    assert.equal(stdout, "");
  }
}
