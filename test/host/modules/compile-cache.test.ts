import assert from "node:assert/strict";
import { access, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Bundle, Compiler } from "../../../host/modules/build/compile.ts";
import { openCompiler } from "../../helpers/compiler.ts";

/** The timestamps of files have to be this old before a build may be reused. */
const CLOCK_TICK_MS = 20;

const wordy = (version: number) => ({
  "node_modules/.package-lock.json": `{ "packages": { "wordy": "${version}" } }`,
  "node_modules/wordy/index.js": `exports.word = ${version};`,
});

/** A plugin that was compiled before the host's next start. */
async function openCompiled(
  t: TestContext,
  source: string,
  files: Readonly<Record<string, string>> = {},
) {
  const opened = await openCompiler(t, source, { allowsLinks: () => true });
  for (const [file, text] of Object.entries(files)) await opened.write(file, text);
  await delay(CLOCK_TICK_MS);
  const first = await opened.compile();
  /** The build after the next start. A source map is written for each build and for no reused one. */
  const compileAtStart = async (compiler: Compiler = opened.restart(), entry = "index.ts") => {
    const builds = join(opened.cache, "modules/one");
    for (const name of await readdir(builds)) {
      if (name.endsWith(".map")) await rm(join(builds, name));
    }
    const bundle = await compiler.compile("one", opened.folder, entry);
    const isBuilt = await access(`${bundle.bundle}.map`).then(
      () => true,
      () => false,
    );
    return { bundle, isBuilt };
  };
  return { ...opened, first, compileAtStart };
}

test("the next start reuses the build of unchanged files", async (t) => {
  const source = 'import { word } from "wordy"; import "./lamp.ts"; export { word };';
  const { first, compileAtStart } = await openCompiled(t, source, {
    "lamp.ts": "console.log();",
    ...wordy(1),
  });

  assert.deepEqual(await compileAtStart(), { bundle: first, isBuilt: false });
  assert.ok(first.vendor);
  assert.equal(first.inputs.size, 2);
});

test("the next start reuses the build of a plugin without packages", async (t) => {
  const { first, compileAtStart } = await openCompiled(t, "export default 1;");

  assert.deepEqual(await compileAtStart(), { bundle: first, isBuilt: false });
  assert.equal(first.vendor, undefined);
});

const CHANGES: Readonly<
  Record<string, (opened: Awaited<ReturnType<typeof openCompiled>>) => Promise<unknown>>
> = {
  "a file changed": ({ write }) => write("lamp.ts", "console.log(2);"),
  "packages were installed again": async ({ write }) => {
    for (const [file, text] of Object.entries(wordy(2))) await write(file, text);
  },
  "its bundle was removed": ({ first }) => rm(first.bundle),
};
for (const [what, change] of Object.entries(CHANGES)) {
  test(`the next start builds again if ${what}`, async (t) => {
    const opened = await openCompiled(t, 'import "wordy"; import "./lamp.ts";', {
      "lamp.ts": "console.log(1);",
      ...wordy(1),
    });

    await change(opened);
    const { isBuilt, bundle } = await opened.compileAtStart();

    assert.ok(isBuilt);
    assert.ok((await readdir(join(opened.cache, "modules/one"))).length >= 2);
    await access(bundle.bundle);
  });
}

test("the next start builds another entry", async (t) => {
  const { compileAtStart, restart } = await openCompiled(t, "export default 1;", {
    "main.ts": "export default 1;",
  });

  assert.ok((await compileAtStart(restart(), "main.ts")).isBuilt);
});

test("the next start builds a plugin with linked sources, because the config may refuse them", async (t) => {
  const { home, folder, write, compile, compileAtStart } = await openCompiled(
    t,
    "export default 1;",
    { "../wordy/package.json": '{ "name": "wordy" }', "../wordy/index.js": "exports.word = 1;" },
  );
  await mkdir(join(folder, "node_modules"));
  await symlink(join(home, "wordy"), join(folder, "node_modules/wordy"));
  await write("index.ts", 'import { word } from "wordy"; console.log(word);');
  await delay(CLOCK_TICK_MS);
  await compile();

  assert.ok((await compileAtStart()).isBuilt);
});

test("a plugin with a bundled part of the SDK is reused too", async (t) => {
  const { first, compileAtStart } = await openCompiled(t, 'import "@mantel/plugin-sdk/mqtt";', {
    "node_modules/mqtt/index.js": "",
    "node_modules/typebox/index.js": "",
  });

  assert.equal((await compileAtStart()).isBuilt, false);
  assert.ok(first.inputs.size > 3);
});

test("pruning keeps the given bundles, their maps and sources, and files of other kinds", async (t) => {
  const { compiler, compile, write, cache } = await openCompiler(t, "export default 1;");
  const builds: Bundle[] = [];
  for (const value of [1, 2, 3]) {
    await write("index.ts", `export default ${value};`);
    builds.push(await compile());
  }
  const [, ...kept] = builds;
  await write("../cache/modules/one/notes.txt", "");

  assert.equal(await compiler.prune("one", kept), false);

  const files = kept.flatMap(({ hash, sources = "" }) => [
    `${hash}.cjs`,
    `${hash}.cjs.map`,
    basename(sources),
  ]);
  assert.deepEqual(
    (await readdir(join(cache, "modules/one"))).toSorted(),
    [...files, "notes.txt"].toSorted(),
  );
  assert.equal(await compiler.prune("never-built", []), false);
});

test("pruning reports packages that became unused, and removes them on request", async (t) => {
  const source = (name: string) => `import "${name}"; export default 1;`;
  const { compiler, compile, write, cache } = await openCompiler(t, source("one"));
  for (const name of ["one", "two"]) await write(`node_modules/${name}/index.js`, "");
  const one = await compile();
  await write("index.ts", source("two"));
  const two = await compile();
  const vendors = async () =>
    (await readdir(join(cache, "vendor"))).map((name) => join(cache, "vendor", name)).toSorted();

  assert.equal(await compiler.prune("one", [one, two]), false);
  assert.equal(await compiler.prune("one", [two]), true);
  await compiler.pruneVendors([one.vendor ?? ""]);
  assert.deepEqual(await vendors(), [one.vendor ?? "", two.vendor ?? ""].toSorted());
  await compiler.pruneVendors([]);
  assert.deepEqual(await vendors(), [two.vendor]);
});

for (const [what, end] of [
  ["forgotten", (compiler) => compiler.forget("one")],
  ["compiled before the compiler was closed", (compiler) => compiler.close()],
] as readonly (readonly [string, (compiler: Compiler) => Promise<void>])[]) {
  test(`the build of a plugin that was ${what} is not open, and can be made again`, async (t) => {
    const { compiler, compileAtStart, first, write } = await openCompiled(t, "export default 1;");

    assert.ok((await compileAtStart(compiler)).isBuilt, "an open build is made each time");
    await end(compiler);
    await end(compiler);
    assert.deepEqual(await compileAtStart(compiler), { bundle: first, isBuilt: false });

    await write("index.ts", "export default 2;");
    assert.ok((await compileAtStart(compiler)).isBuilt);
  });
}
