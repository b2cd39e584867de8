import assert from "node:assert/strict";
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { compileEntry, compileRuntime } from "../../../host/modules/build/runtime.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const require = createRequire(import.meta.url);

test("the program of plugin processes is one file, and a second start uses it", async (t) => {
  const cache = join(await emptyFolder(t), "cache");

  const file = await compileRuntime(cache);
  const { ino } = await stat(file);

  assert.match(basename(file), /^runtime-[0-9a-f]{16}\.cjs$/);
  assert.equal(await compileRuntime(cache), file);
  assert.equal((await stat(file)).ino, ino);
  assert.match(await readFile(file, "utf8"), /^"use strict";/);
});

test("a program is compiled with what it imports, and its previous versions are removed", async (t) => {
  const folder = await emptyFolder(t);
  const cache = join(folder, "cache");
  await mkdir(cache);
  const entry = join(folder, "main.ts");
  await writeFile(join(folder, "tsconfig.json"), "no JSON");
  await writeFile(
    entry,
    'import { part } from "./part.ts"; import "node:fs"; module.exports = part;',
  );
  await writeFile(join(folder, "part.ts"), "export const part: string = 'first';");
  for (const name of ["tool-0123.cjs", "toolbox-0123.cjs"]) await writeFile(join(cache, name), "");
  await delay(20);

  const first = await compileEntry(cache, { name: "tool", entry });
  await writeFile(join(folder, "part.ts"), "export const part: string = 'second';");
  const second = await compileEntry(cache, { name: "tool", entry });

  assert.equal(require(second), "second");
  assert.notEqual(first, second);
  const left = (await readdir(cache)).filter((name) => name.endsWith(".cjs")).toSorted();
  assert.deepEqual(left, [basename(second), "toolbox-0123.cjs"]);
});

test("unchanged sources are not compiled again, and a file that is gone is written again", async (t) => {
  const folder = await emptyFolder(t);
  const entry = join(folder, "main.ts");
  await writeFile(entry, "module.exports = 1;");
  await delay(20);
  const first = await compileEntry(folder, { name: "tool", entry });

  const record = await stat(join(folder, "built/tool.json"));
  await rm(first);
  const again = await compileEntry(folder, { name: "tool", entry });

  assert.equal(again, first);
  assert.equal((await stat(join(folder, "built/tool.json"))).mtimeMs, record.mtimeMs);
  await access(first);
});

test("code with an error is not kept", async (t) => {
  const folder = await emptyFolder(t);
  const entry = join(folder, "main.ts");
  await writeFile(entry, "const = 1;");

  await assert.rejects(compileEntry(folder, { name: "tool", entry }), /Expected identifier/);

  assert.deepEqual(await readdir(folder), ["main.ts"]);
});
