import assert from "node:assert/strict";
import { mkdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { SDK_FOLDER } from "../../../host/modules/build/esbuild-plugin.ts";
import { openCompiler, run } from "../../helpers/compiler.ts";

test("a bundle truncated by a crash is written again", async (t) => {
  const { compiler, folder } = await openCompiler(t);
  const { bundle } = await compiler.compile("one", folder, "index.ts");
  const whole = await readFile(bundle, "utf8");
  await truncate(bundle, 10);

  const again = await compiler.compile("one", folder, "index.ts");

  assert.equal(again.bundle, bundle);
  assert.equal(await readFile(bundle, "utf8"), whole);
});

test("a package that is missing is named with the place of its import", async (t) => {
  const { compiler, folder } = await openCompiler(t, 'import x from "not-there"; console.log(x);');

  await assert.rejects(
    compiler.compile("one", folder, "index.ts"),
    ({ code, message, extras }: MantelError) => {
      assert.equal(code, "reload_failed");
      assert.match(message, /^the package not-there is not installed; /);
      assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 1]);
      return true;
    },
  );
});

for (const [source, message] of [
  ['import { Slots } from "@mantel/plugin-sdk";', /^Slots .+ is now Semaphore$/],
  [
    'import type { MantelError, Turns } from "@mantel/plugin-sdk";',
    /^Turns .+ is now SerialQueue$/,
  ],
  ['import { MqttLink } from "@mantel/plugin-sdk/mqtt";', /^MqttLink .+ is now MqttClient$/],
  ['import * as all from "@mantel/plugin-sdk/speech";', /^@mantel.+speech is now @mantel.+i18n$/],
] as const) {
  test(`an old name of the SDK is refused with its line: ${source}`, async (t) => {
    const { compiler, folder } = await openCompiler(t, `// first line\n${source}`);

    await assert.rejects(
      compiler.compile("one", folder, "index.ts"),
      ({ code, message: text, extras }: MantelError) => {
        assert.equal(code, "reload_failed");
        assert.match(text, message);
        assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 2]);
        return true;
      },
    );
  });
}

test("a plugin may use old names of the SDK for its own variables and in comments", async (t) => {
  const source = `// import { Slots } from "@mantel/plugin-sdk";
    import { Semaphore as Slots } from "@mantel/plugin-sdk";
    import { SerialQueue as Turns } from "./queue.ts";
    console.log(Slots, Turns);`;
  const { compiler, folder } = await openCompiler(t, source);
  await writeFile(join(folder, "queue.ts"), "export class SerialQueue {}");

  const { inputs } = await compiler.compile("one", folder, "index.ts");

  assert.deepEqual([...inputs].toSorted(), [join(folder, "index.ts"), join(folder, "queue.ts")]);
});

const require = createRequire(import.meta.url);
const reloadFailure = (text: RegExp) => (error: MantelError) => {
  assert.equal(error.code, "reload_failed");
  assert.match(error.message, text);
  return true;
};

test("a bundle runs with the values of its own files, in TypeScript and JavaScript", async (t) => {
  const { compile, write, folder } = await openCompiler(
    t,
    `import { lamp } from "./lamp.js";
    import { level } from "./sub/level.ts";
    import { isJavaScript } from "./plain";
    import { asModule } from "./typed.mts";
    import { asPlainModule } from "./plain.mjs";
    import data from "./data.json";
    export const all: unknown = { lamp, level, isJavaScript, asModule, asPlainModule, data };`,
  );
  await write("lamp.ts", 'export const lamp: string = "on";');
  await write("sub/level.ts", 'export { level } from "../level.ts";');
  await write("level.ts", "export const level: number = 5;");
  // In TypeScript this would be a call with a type argument.
  await write("plain.js", "const a = 1, b = 2; export const isJavaScript = a<b>(0);");
  await write("typed.mts", "export const asModule: boolean = true;");
  await write("plain.mjs", "const a = 1, b = 2; export const asPlainModule = a<b>(0);");
  await write("data.json", '{ "one": 1 }');

  const { bundle, inputs, vendor } = await compile();

  const all = {
    lamp: "on",
    level: 5,
    isJavaScript: true,
    asModule: true,
    asPlainModule: true,
    data: { one: 1 },
  };
  assert.deepEqual(run(bundle, require)["all"], all);
  assert.equal(vendor, undefined);
  const files = [
    "data.json",
    "index.ts",
    "lamp.ts",
    "level.ts",
    "plain.js",
    "plain.mjs",
    "sub/level.ts",
    "typed.mts",
  ];
  assert.deepEqual(
    [...inputs].toSorted(),
    files.map((file) => join(folder, file)),
  );
});

test("import.meta has the values of the source file that uses it", async (t) => {
  const { compile, write, folder } = await openCompiler(
    t,
    `export { meta } from "./sub/meta.ts";
    export const url = import.meta.url;`,
  );
  await write(
    "sub/meta.ts",
    "export const meta = [import.meta.url, import.meta.filename, import.meta.dirname];",
  );

  const { url, meta } = run((await compile()).bundle, require);

  const file = join(folder, "sub/meta.ts");
  assert.equal(url, pathToFileURL(join(folder, "index.ts")).href);
  assert.deepEqual(meta, [pathToFileURL(file).href, file, join(folder, "sub")]);
});

test("the SDK, built-in modules and packages come from the process that runs the bundle", async (t) => {
  const { compile, write } = await openCompiler(
    t,
    `import { definePlugin } from "@mantel/plugin-sdk";
    import fs from "node:fs";
    import { join } from "path";
    import { word } from "wordy";
    export const all = [definePlugin, typeof fs.statSync, join("a", "b"), word];`,
  );
  await write("node_modules/wordy/package.json", '{ "name": "wordy", "main": "index.js" }');
  await write("node_modules/wordy/index.js", 'exports.word = "packed";');
  const given: Record<string, unknown> = {
    "@mantel/plugin-sdk": { definePlugin: "of the host" },
    wordy: { word: "of the vendor bundle" },
  };

  const { bundle, vendor = "", inputs } = await compile();
  const { all } = run(bundle, (name) => given[name] ?? require(name));

  assert.deepEqual(all, ["of the host", "function", "a/b", "of the vendor bundle"]);
  assert.deepEqual((run(vendor, require)["wordy"] as { word: string }).word, "packed");
  assert.equal(inputs.size, 1);
});

test("the MQTT part of the SDK is bundled, and uses the process's copy of the other parts", async (t) => {
  const source =
    'import { MqttClient } from "@mantel/plugin-sdk/mqtt"; export const name = typeof MqttClient;';
  const { compile, cache, write } = await openCompiler(t, source);
  for (const name of ["mqtt", "typebox"]) {
    const code = "exports.Type = new Proxy({}, { get: () => () => ({}) });";
    await write(`node_modules/${name}/index.js`, code);
  }

  const { bundle, inputs, vendor = "" } = await compile();
  const packages = run(vendor, require);
  const asked = new Set<string>();
  const { name } = run(bundle, (each) => {
    asked.add(each);
    return each === "@mantel/plugin-sdk" ? {} : (packages[each] ?? require(each));
  });

  assert.equal(name, "function");
  assert.ok(asked.has("@mantel/plugin-sdk"));
  assert.ok(inputs.has(join(SDK_FOLDER, "mqtt/client.ts")));
  assert.ok([...inputs].every((file) => !file.startsWith(join(SDK_FOLDER, "errors"))));
  assert.ok(vendor.startsWith(join(cache, "vendor")));
});

test("a part of the SDK is bundled with the parts that it imports itself", async (t) => {
  const source =
    'export { JoinedDevices } from "@mantel/plugin-sdk/joined-devices"; export { READINGS } from "@mantel/plugin-sdk/vocabulary";';
  const { compile } = await openCompiler(t, source);

  const { bundle, inputs } = await compile();

  const own = run(bundle, (each) => (each === "@mantel/plugin-sdk" ? {} : require(each)));
  assert.equal(typeof own["JoinedDevices"], "function");
  assert.ok(inputs.has(join(SDK_FOLDER, "vocabulary/readings.ts")));
});

test("a plugin bundles the vocabulary that it imports", async (t) => {
  const source =
    'import { READINGS } from "@mantel/plugin-sdk/vocabulary"; export const { battery } = READINGS;';
  const { compile } = await openCompiler(t, source);

  const { bundle, inputs } = await compile();

  assert.equal((run(bundle, require)["battery"] as { unit: string }).unit, "%");
  assert.ok(inputs.has(join(SDK_FOLDER, "vocabulary/readings.ts")));
});

for (const [source, message] of [
  ['import "../two/index.ts";', /^\.\.\/two\/index\.ts is outside the plugin's folder$/],
  ['import "../one-more/index";', /^\.\.\/one-more\/index is outside the plugin's folder$/],
  [
    'import { MqttClent } from "@mantel/plugin-sdk/mqtt"; new MqttClent();',
    /^@mantel\/plugin-sdk\/mqtt does not export MqttClent; did you mean MqttClient\?$/,
  ],
  ['import "./absent.ts";', /^cannot find \.\/absent\.ts; check the path/],
  [
    'import "@mantel/plugin-sdk/errors";',
    /^a plugin's server side imports ("@mantel\/plugin-sdk(\/joined-devices|\/mqtt|\/time|\/vocabulary)?"(, )?){5}, not @mantel\/plugin-sdk\/errors$/,
  ],
] as const) {
  test(`a build is refused with the place of the import: ${source}`, async (t) => {
    const { compile, write } = await openCompiler(t, `\n${source}`);
    await write("../two/index.ts", "");
    await write("../one-more/index.ts", "export default 1;");

    await assert.rejects(compile(), (error: MantelError) => {
      const { file, line } = error.extras.location ?? {};
      assert.deepEqual([file, line], ["index.ts", 2]);
      return reloadFailure(message)(error);
    });
  });
}

test("a missing server entry is refused with its path", async (t) => {
  const { compiler, folder } = await openCompiler(t);

  await assert.rejects(
    compiler.compile("one", folder, "absent.ts"),
    reloadFailure(
      /^absent\.ts does not exist; create it, or change mantel\.server in package\.json$/,
    ),
  );
});

test("an error in the code is refused with its place, and the next build is complete", async (t) => {
  const { compile, write } = await openCompiler(t, "export const = 1;");

  await assert.rejects(compile(), reloadFailure(/^syntax error: expected identifier, found "="/));
  await write("index.ts", "export const answer = 1;");

  assert.equal(run((await compile()).bundle, require)["answer"], 1);
});

test("a tsconfig.json beside the plugin does not change its code", async (t) => {
  const { compile, write, compiler } = await openCompiler(
    t,
    "export class Lamp { level?: number; }",
  );
  const { hash } = await compile();
  await compiler.forget("one");
  await write("tsconfig.json", '{ "compilerOptions": { "useDefineForClassFields": false } }');
  await write("index.ts", "export class Lamp { level?: number; } // saved");

  assert.equal((await compile()).hash, hash);
});

test("code that differs only in a comment keeps its bundle, and its map has the new lines", async (t) => {
  const { compile, write } = await openCompiler(t, "export const one = 1;\nthrow new Error();");
  const first = await compile();
  const mapOf = async () =>
    JSON.parse(await readFile(`${first.bundle}.map`, "utf8")) as Record<string, unknown>;
  const before = await mapOf();
  const { mtimeMs } = await stat(first.bundle);

  await write("index.ts", "// a line more\nexport const one = 1;\nthrow new Error();");
  const second = await compile();

  assert.deepEqual({ ...second, sources: first.sources }, first);
  assert.equal((await stat(first.bundle)).mtimeMs, mtimeMs, "a process may be reading it");
  assert.notEqual((await mapOf())["mappings"], before["mappings"]);
  assert.equal(before["sourcesContent"], undefined);
  assert.match(
    await readFile(first.bundle, "utf8"),
    /\n\/\/# sourceMappingURL=\w{16}\.cjs\.map\n$/,
  );
});

test("another entry of the same plugin is another build", async (t) => {
  const { compiler, compile, write, folder } = await openCompiler(t, "export const name = 1;");
  await compile();
  await write("main.ts", "export const name = 2;");

  const { bundle } = await compiler.compile("one", folder, "main.ts");

  assert.equal(run(bundle, require)["name"], 2);
});

test("a file that an editor has just emptied is compiled with its new content", async (t) => {
  const { compile, write } = await openCompiler(t, "");

  const compiled = compile();
  await new Promise((done) => setTimeout(done, 30));
  await write("index.ts", "export const late = true;");

  assert.equal(run((await compiled).bundle, require)["late"], true);
});

test("a file that stays empty is an empty module", async (t) => {
  const { compile } = await openCompiler(t, "");

  assert.deepEqual(run((await compile()).bundle, require), {});
});

test("a linked package is bundled with its imports if the config allows links", async (t) => {
  const source = 'import { word } from "wordy"; export { word };';
  const allowed = new Set<string>();
  const { home, folder, compile, write } = await openCompiler(t, source, {
    allowsLinks: (id) => allowed.has(id),
  });
  await write("../wordy/package.json", '{ "name": "wordy", "main": "index.ts" }');
  await write("../wordy/index.ts", 'export { word } from "./word.ts";');
  await write(
    "../wordy/word.ts",
    'import { version } from "@mantel/plugin-sdk"; export const word: string = `linked ${version}`;',
  );
  await mkdir(join(folder, "node_modules"));
  await symlink(join(home, "wordy"), join(folder, "node_modules/wordy"));

  await assert.rejects(
    compile(),
    reloadFailure(/^the package wordy is a link; set modules\.one\.links to true in the config/),
  );
  allowed.add("one");
  const { bundle, vendor, inputs } = await compile();

  assert.equal(run(bundle, () => ({ version: "to the host" }))["word"], "linked to the host");
  assert.equal(vendor, undefined);
  assert.ok(inputs.has(join(home, "wordy/word.ts")));
});
