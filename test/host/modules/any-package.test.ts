import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { hasNativeCode } from "../../../host/modules/build/native-packages.ts";
import { readOwnTsconfig } from "../../../host/modules/build/own-tsconfig.ts";
import { awaitBundle } from "../../../plugin-sdk/runtime/compiled-code.ts";
import { openCompiler, run } from "../../helpers/compiler.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const require = createRequire(import.meta.url);

/** The binary of the parser of the check, which is installed without scripts. */
function installedBinary(): string {
  const parser = createRequire(require.resolve("knip"));
  return createRequire(parser.resolve("oxc-parser")).resolve(
    `@oxc-parser/binding-${process.platform}-${process.arch}-gnu`,
  );
}

const BOTH_FORMS = { import: "./index.mjs", require: "./index.cjs" };

test("a package with two forms is imported in one and required in the other, as Node does", async (t) => {
  const source = `
    import { Bound } from "outer";
    import Pool, { form } from "pool";
    export const found = [new Bound().name, new Pool().name, form, new Bound() instanceof Pool];`;
  const { compile, write } = await openCompiler(t, source);
  const both = (name: string) => JSON.stringify({ name, exports: { ".": BOTH_FORMS } });
  await write("node_modules/pool/package.json", both("pool"));
  await write(
    "node_modules/pool/index.cjs",
    'module.exports = class Pool { name = "pool"; }; module.exports.form = "required";',
  );
  await write(
    "node_modules/pool/index.mjs",
    'import Pool from "./index.cjs"; export default Pool; export const form = "imported";',
  );
  await write("node_modules/outer/package.json", both("outer"));
  await write(
    "node_modules/outer/index.cjs",
    'const Pool = require("pool"); exports.Bound = class extends Pool { name = Pool.form; };',
  );
  await write(
    "node_modules/outer/index.mjs",
    'import outer from "./index.cjs"; export const Bound = outer.Bound;',
  );

  const { bundle, vendor = "" } = await compile();
  const packages = run(vendor, require);
  const { found } = run(bundle, (name) => packages[name]);

  assert.deepEqual(found, ["required", "pool", "imported", true]);
});

test("a package that is imported by import() runs when the code imports it", async (t) => {
  const source = `
    import { early } from "early";
    export const found = [early, globalThis.hasRunLate];
    export const later = async () => {
      const [late, common] = await Promise.all([import("late"), import("common")]);
      return [late.default, late.name, common.default.form, common.form, globalThis.hasRunLate];
    };`;
  const { compile, write } = await openCompiler(t, source);
  await write("node_modules/early/package.json", '{ "name": "early", "type": "module" }');
  await write("node_modules/early/index.js", 'export const early = "early";');
  await write("node_modules/late/package.json", '{ "name": "late", "type": "module" }');
  await write(
    "node_modules/late/index.js",
    'globalThis.hasRunLate = true; export default "default"; export const name = "late";',
  );
  await write("node_modules/common/package.json", '{ "name": "common" }');
  await write("node_modules/common/index.js", 'exports.form = "common";');
  t.after(() => Reflect.deleteProperty(globalThis, "hasRunLate"));

  const { bundle, vendor = "", inputs } = await compile();
  const packages = run(vendor, require);
  const { found, later } = run(bundle, (name) => packages[name]);

  const missing = [...inputs].filter((file) => !existsSync(file));
  assert.deepEqual(missing, [], "each of them is watched, and a missing one counts as changed");

  assert.deepEqual(found, ["early", undefined]);
  assert.deepEqual(await (later as () => Promise<unknown>)(), [
    "default",
    "late",
    "common",
    "common",
    true,
  ]);
});

test("a package with native code stays outside the bundle and finds its binary beside its files", async (t) => {
  const source = `import { parse } from "outer"; export const found = parse("let a = 1;");`;
  const { compile, folder, write } = await openCompiler(t, source);
  await write("node_modules/outer/package.json", '{ "name": "outer", "type": "module" }');
  await write(
    "node_modules/outer/index.js",
    'import native from "native-parser"; export const parse = (text) => native(text);',
  );
  await write(
    "node_modules/native-parser/package.json",
    '{ "name": "native-parser", "dependencies": { "node-gyp-build": "4" } }',
  );
  await write(
    "node_modules/native-parser/index.js",
    `const native = require(require("node:path").join(__dirname, "build", "parser.node"));
    module.exports = (text) => [__dirname, typeof native.parseSync("a.js", text)];`,
  );
  const build = join(folder, "node_modules/native-parser/build");
  await mkdir(build);
  await cp(installedBinary(), join(build, "parser.node"));

  const { bundle, vendor = "" } = await compile();
  const packages = run(vendor, require);
  const { found } = run(bundle, (name) => packages[name]);

  assert.deepEqual(found, [dirname(build), "object"]);
});

for (const [what, content] of [
  ["a build file of node-gyp", { gypfile: true }],
  ["a loader of prebuilt binaries", { dependencies: { bindings: "1" } }],
  ["packages for each platform", { optionalDependencies: { "@img/sharp-linux-x64": "1" } }],
  ["an entry that is a binary", { main: "index.node" }],
] as const) {
  test(`a package has native code if it has ${what}`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "one", ...content }));

    assert.equal(hasNativeCode(folder), true);
  });
}

test("an ordinary package does not have native code", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "package.json"), '{ "name": "one", "dependencies": { "ws": "8" } }');

  assert.equal(hasNativeCode(folder), false);
});

const WORKER = `
  import { Worker } from "node:worker_threads";
  export const url = new Worker(new URL("./work.ts", import.meta.url)); // line 3`;

test("a worker thread in TypeScript runs with its files, packages and top-level await", async (t) => {
  const { compile, write, folder } = await openCompiler(t, WORKER);
  await write("node_modules/wordy/index.js", 'exports.word = "packed";');
  await write("level.ts", "export const level: number = 5;");
  await write(
    "work.ts",
    `import { parentPort } from "node:worker_threads";
    import type { Device } from "@mantel/plugin-sdk";
    import { word } from "wordy";
    import { level } from "./level.ts";
    const awaited: string = await Promise.resolve("awaited");
    parentPort?.postMessage([word, level, awaited, import.meta.url]);`,
  );

  const { bundle, inputs } = await compile();
  const [, address = ""] = /new URL\("(file:[^"]+)"\)/.exec(await readFile(bundle, "utf8")) ?? [];
  const worker = new Worker(new URL(address));
  const message = await new Promise((done, failed) => {
    worker.once("message", done);
    worker.once("error", failed);
  });
  await worker.terminate();

  assert.deepEqual(message, ["packed", 5, "awaited", `file://${folder}/work.ts`]);
  for (const name of ["index.ts", "work.ts", "level.ts"])
    assert.ok(inputs.has(join(folder, name)), name);
});

test("compiled worker threads are removed with the bundles that start them", async (t) => {
  const { compiler, compile, write, cache } = await openCompiler(t, WORKER);
  const workers = async () =>
    (await readdir(join(cache, "modules/one"))).filter((name) => name.endsWith(".worker.mjs"));
  await write("work.ts", "console.log(1);");
  await compile();
  const [first] = await workers();
  await write("work.ts", "console.log(2);");
  const second = await compile();

  assert.equal((await workers()).length, 2);
  await compiler.prune("one", [second]);

  assert.equal((await workers()).length, 1);
  assert.notEqual((await workers())[0], first);
});

test("a worker thread that does not compile is named with its own line", async (t) => {
  const { compile, write } = await openCompiler(t, WORKER);
  await write("work.ts", "const a = 1;\nconst b = ;");

  await assert.rejects(compile(), ({ extras }: MantelError) => {
    assert.deepEqual([extras.location?.file, extras.location?.line], ["work.ts", 2]);
    return true;
  });
});

test("a worker thread that imports values of the SDK is refused", async (t) => {
  const { compile, write } = await openCompiler(t, WORKER);
  await write("work.ts", 'import { Type } from "@mantel/plugin-sdk";\nconsole.log(Type);');

  await assert.rejects(compile(), /a worker thread may import only types from @mantel/);
});

test("a worker thread that does not exist is named", async (t) => {
  const { compile } = await openCompiler(t, WORKER);

  await assert.rejects(compile(), /^MantelError: the worker thread \.\/work\.ts does not exist$/);
});

test("code may await at its top level, also after a save that adds it", async (t) => {
  const { compile, write } = await openCompiler(t, "export default 1;");
  await write("node_modules/wordy/index.js", 'exports.word = "packed";');
  const first = await compile();
  await write(
    "index.ts",
    `import { definePlugin } from "@mantel/plugin-sdk";
    import { readFile } from "node:fs/promises";
    import { word } from "wordy";
    import { later } from "./later.ts";
    const text: string = await readFile(new URL("./asset.txt", import.meta.url), "utf8");
    export default [typeof definePlugin, word, text, later];`,
  );
  await write("later.ts", "export const later = await Promise.resolve(7);");
  await write("asset.txt", "an asset");

  const { bundle, vendor = "", inputs } = await compile();
  const given = { ...run(vendor, require), "@mantel/plugin-sdk": { definePlugin: String } };
  const isGiven = (name: string): name is keyof typeof given => Object.hasOwn(given, name);
  const load = (name: string): unknown => (isGiven(name) ? given[name] : require(name));

  assert.deepEqual((await awaitBundle(bundle, load))["default"], [
    "function",
    "packed",
    "an asset",
    7,
  ]);
  assert.equal(inputs.size, 2);
  assert.equal((await awaitBundle(first.bundle, load))["default"], 1);
});

test("a WebAssembly file is imported as its bytes", async (t) => {
  const { compile, folder } = await openCompiler(
    t,
    'import bytes from "./empty.wasm"; export default bytes;',
  );
  const bytes = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  await writeFile(join(folder, "empty.wasm"), bytes);

  const { bundle } = await compile();

  assert.deepEqual(run(bundle, require)["default"], bytes);
});

test("path aliases of the plugin's own tsconfig.json lead to its own files, which are watched", async (t) => {
  const { compile, write, folder } = await openCompiler(
    t,
    `import { lamp } from "~/lamp"; import { level } from "#level"; export default [lamp, level];`,
  );
  await write("src/lamp.ts", 'export const lamp: string = "on";');
  await write("src/level.ts", "export const level: number = 5;");
  await write(
    "tsconfig.json",
    `{ // with comments
      "compilerOptions": { "paths": { "~/*": ["./lib/*", "./src/*"], "#level": ["./src/level.ts"], } },
    }`,
  );

  const { bundle, inputs, vendor } = await compile();

  assert.deepEqual(run(bundle, require)["default"], ["on", 5]);
  assert.equal(vendor, undefined);
  for (const name of ["src/lamp.ts", "src/level.ts", "tsconfig.json"])
    assert.ok(inputs.has(join(folder, name)), name);
});

test("an alias does not lead outside the plugin's folder", async (t) => {
  const { compile, write, home } = await openCompiler(t, 'export { key } from "~/key";');
  await writeFile(join(home, "key.ts"), "export const key = 1;");
  await write("tsconfig.json", '{ "compilerOptions": { "paths": { "~/*": ["../*"] } } }');

  await assert.rejects(compile(), /the package ~\/key is not installed/);
});

test("an invalid tsconfig.json is ignored", async (t) => {
  const folder = await emptyFolder(t);
  for (const text of [
    "",
    "[]",
    "null",
    '{"compilerOptions":{"paths":[1]}}',
    '{"extends":"/etc/passwd"}',
  ]) {
    await writeFile(join(folder, "tsconfig.json"), text);
    assert.deepEqual(readOwnTsconfig(folder).targetsOf("a"), []);
  }
});
