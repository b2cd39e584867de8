import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { buildSdk } from "../../scripts/pack-sdk/pack.ts";
import { emptyFolder } from "../helpers/folder.ts";

const PLUGINS = resolve(import.meta.dirname, "../../plugins");
const PACKAGES = resolve(import.meta.dirname, "../../node_modules");
/** As strict as an author's own settings can be. */
const STRICT = {
  target: "ES2023",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  module: "NodeNext",
  types: ["node"],
  strict: true,
  skipLibCheck: false,
  noEmit: true,
};
/** A file that types refer to or import. */
const REFERENCE = /(?:<reference path=|\bfrom |\bimport\(|\bimport )["'](\.[^"']*|\/[^"']*)["']/g;
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

/** The paths in a package's types that do not lead to one of its files, each with the file that has it. */
async function strayReferences(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const stray: string[] = [];
  for (const name of names.filter((each) => each.endsWith(".d.ts"))) {
    for (const [, path = ""] of (await readFile(join(folder, name), "utf8")).matchAll(REFERENCE)) {
      const file = resolve(folder, dirname(name), path).replace(/(?<!\.d)\.[jt]s$/, ".d.ts");
      if (relative(folder, file).startsWith("..") || !existsSync(file)) {
        stray.push(`${name}: ${path}`);
      }
    }
  }
  return stray;
}

/** The compiler's errors in the types of a package that is installed below `home`. */
async function typeErrors(home: string, folder: string): Promise<string> {
  const packages = (await readdir(PACKAGES)).filter((name) => !/^(\.|@mantel$)/.test(name));
  for (const name of packages) {
    await symlink(join(PACKAGES, name), join(home, "node_modules", name));
  }
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith(".d.ts")).map((name) => join(folder, name));
  await writeFile(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions: STRICT, files }));
  const args = ["-p", home, "--checkers", "1"];
  const { stdout } = await promisify(execFile)(join(PACKAGES, ".bin/tsc"), args).catch(
    (failure: { stdout: string }) => failure,
  );
  return stdout;
}

test("the packed SDK has each part that the shipped plugins import, and all of its types, which have no errors", async (t) => {
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
  assert.deepEqual(await strayReferences(sdk), []);
  assert.equal(await typeErrors(home, sdk), "");
  for (const name of ["index.d.ts", "widget.d.ts"]) {
    assert.match(await readFile(join(sdk, name), "utf8"), /<reference path="\.\/assets\.d\.ts"/);
  }
});
