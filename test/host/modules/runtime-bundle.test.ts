import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { compileEntry, compileRuntime } from "../../../host/modules/build/runtime.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const require = createRequire(import.meta.url);

test("the code of plugin processes is compiled into three files, and a second start uses them", async (t) => {
  const cache = join(await emptyFolder(t), "cache");

  const file = await compileRuntime(cache);
  const { ino } = await stat(file);

  const folder = dirname(file);
  assert.match(relative(cache, file), /^runtime-[0-9a-f]{16}\/start\.cjs$/);
  const compiled = `runtime.cjs.${process.version}.cache`;
  const library = "schema-library";
  const files = ["runtime.cjs", compiled, library, "start.cjs"];
  assert.deepEqual((await readdir(folder)).toSorted(), files);
  const compiledLibrary = `library.cjs.${process.version}.cache`;
  assert.deepEqual(await readdir(join(folder, library)), ["library.cjs", compiledLibrary]);
  assert.equal(await compileRuntime(cache), file);
  assert.equal((await stat(file)).ino, ino);
  await access(join(cache, "built/runtime.json")); // otherwise each start would compile it
  for (const name of ["runtime.cjs", `${library}/library.cjs`, "start.cjs"]) {
    assert.match(await readFile(join(folder, name), "utf8"), /^"use strict";/);
  }
});

test("compiled code is saved again if it is gone, and code of earlier sources is removed", async (t) => {
  const cache = join(await emptyFolder(t), "cache");
  await mkdir(join(cache, "runtime-0123"), { recursive: true });
  const file = await compileRuntime(cache);
  const compiled = join(dirname(file), `runtime.cjs.${process.version}.cache`);

  await rm(compiled);
  await compileRuntime(cache);

  await access(compiled);
  const left = (await readdir(cache)).filter((name) => name.startsWith("runtime-"));
  assert.deepEqual(left, [basename(dirname(file))]);
});

/** The output of a script in a process with a plugin's flags, which runs the runtime too. */
async function inProcess(
  t: TestContext,
  flags: readonly string[],
  script: string,
): Promise<string> {
  const folder = await emptyFolder(t);
  const file = await compileRuntime(join(folder, "cache"));
  await writeFile(join(folder, "script.cjs"), script);
  const reads = [
    process.allowedNodeEnvironmentFlags.has("--permission")
      ? "--permission"
      : "--experimental-permission",
    "--allow-fs-read=*",
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=SecurityWarning",
  ];
  const required = ["--require", join(folder, "script.cjs")];
  const child = spawn(
    process.execPath,
    ["--max-old-space-size=64", "--max-semi-space-size=2", ...reads, ...flags, ...required, file],
    { stdio: ["ignore", "pipe", "inherit", "pipe"], env: {} },
  );
  t.after(() => child.kill());
  return text(child.stdout ?? assert.fail());
}

const REPORT = `
const limit = (v8) => v8.getHeapStatistics().heap_size_limit < 90 * 2 ** 20;
const vm = require("node:vm");
const Script = vm.Script;
vm.Script = class extends Script {
  constructor(...given) {
    super(...given);
    setTimeout(() => {
      const tell = (ofThread) => {
        const found = [this.cachedDataRejected, limit(require("node:v8")), ofThread];
        require("node:fs").writeSync(1, JSON.stringify(found));
        process.exit();
      };
      if (!process.permission.has("worker")) return tell();
      const code = "const limit = " + limit + "; postMessage(limit(require('node:v8')))";
      const options = { eval: true };
      const text = "const { parentPort } = require('node:worker_threads'); const postMessage = (value) => parentPort.postMessage(value);";
      new (require("node:worker_threads").Worker)(text + code, options).on("message", tell);
    });
  }
};`;

test("a process takes the compiled code and keeps the limit of its heap, and of that of its threads", async (t) => {
  assert.equal(await inProcess(t, [], REPORT), "[false,true,null]");
  assert.equal(await inProcess(t, ["--allow-worker"], REPORT), "[false,true,true]");
});

/** Prints those of the modules that take much memory, and the files, which the process has loaded when it waits. */
const LOADED = `
const vm = require("node:vm");
const files = [];
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    files.push(require("node:path").basename(options.filename));
  }
};
setTimeout(() => {
  const loaded = ["crypto", "tls", "http"].filter((name) => process.moduleLoadList.includes("NativeModule " + name));
  require("node:fs").writeSync(1, JSON.stringify({ loaded, files }));
  process.exit();
}, 10);`;

test("a process that waits for its plugin has not loaded what few plugins use", async (t) => {
  const printed: unknown = JSON.parse(await inProcess(t, [], LOADED));
  assert.deepEqual(printed, { loaded: [], files: ["runtime.cjs"] }); // and not the library for schemas
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
