import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { buildSdk } from "../../scripts/pack-sdk/pack.ts";
import { emptyFolder } from "../helpers/folder.ts";

const PLUGINS = resolve(import.meta.dirname, "../../plugins");
const IMPORT = /["'](@mantel\/plugin-sdk(?:\/[^"'`$]+)?)["']/g;

/** The parts of the SDK that the shipped plugins import, each with a file that does. */
async function importedParts(): Promise<Map<string, string>> {
  const names = await readdir(PLUGINS, { recursive: true });
  const sources = names.filter((each) => /\.([cm]?[jt]sx?|css)$/.test(each));
  const parts = new Map<string, string>();
  for (const name of sources.filter((each) => !each.includes("node_modules"))) {
    for (const [, part = ""] of (await readFile(join(PLUGINS, name), "utf8")).matchAll(IMPORT)) {
      parts.set(part, name);
    }
  }
  return parts;
}

test("the packed SDK exports each part, with types, that the shipped plugins import", async (t) => {
  const home = await emptyFolder(t);
  const sdk = join(home, "node_modules/@mantel/plugin-sdk");
  await buildSdk(sdk);
  const author = createRequire(join(home, "index.js"));

  const parts = await importedParts();
  const missing = [...parts].filter(([part]) => {
    try {
      const file = author.resolve(part);
      return file.endsWith(".js") && !existsSync(file.replace(/\.js$/, ".d.ts"));
    } catch {
      return true;
    }
  });

  assert.ok(parts.has("@mantel/plugin-sdk/widget"));
  assert.deepEqual(missing, []);
});
