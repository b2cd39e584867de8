import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { VendorCache } from "../../../host/modules/build/vendor.ts";
import { run } from "../../helpers/compiler.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const require = createRequire(import.meta.url);

async function openVendors(t: TestContext) {
  const home = await emptyFolder(t);
  const cache = join(home, "vendor");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), text);
  };
  /** Adds an installed package whose main file has this code. */
  const install = (folder: string, name: string, code: string) =>
    write(`${folder}/node_modules/${name}/index.js`, code);
  const from = (folder: string) => join(home, folder);
  const vendors = new VendorCache(cache);
  /** The bundle of packages that `<folder>/index.ts` imports. */
  const bundle = async (id: string, folder: string, ...names: string[]): Promise<string> => {
    const imports = new Map(names.map((name) => [name, join(home, folder, "index.ts")]));
    return (await vendors.bundle(id, from(folder), imports)) ?? "none";
  };
  return { home, cache, write, install, from, vendors, bundle };
}

test("packages are bundled into one file, which the order of the imports does not change", async (t) => {
  const { install, bundle, cache } = await openVendors(t);
  await install("one", "a", "exports.name = 'a';");
  await install("one", "b", "exports.name = 'b';");

  const file = await bundle("one", "one", "a", "b");

  const exported = run(file, require) as Record<string, { name: string }>;
  assert.deepEqual([exported["a"]?.name, exported["b"]?.name], ["a", "b"]);
  assert.equal(await bundle("one", "one", "b", "a"), file);
  assert.equal(dirname(file), cache);
  assert.match(file, /\/[0-9a-f]{16}\.cjs$/);
});

test("no packages need no bundle", async (t) => {
  const { bundle, from, vendors } = await openVendors(t);

  assert.equal(await vendors.bundle("one", from("one"), new Map()), undefined);
  assert.equal(await bundle("one", "one"), "none");
});

test("a bundle is built once, also for plugins that ask at the same time", async (t) => {
  const { install, bundle, write } = await openVendors(t);
  await install(".", "shared", "exports.name = 'shared';");
  for (const id of ["one", "two", "three"]) await write(`plugins/${id}/index.ts`, "");

  const [file, other] = await Promise.all([
    bundle("one", "plugins/one", "shared"),
    bundle("two", "plugins/two", "shared"),
  ]);
  const before = await stat(file);
  await bundle("three", "plugins/three", "shared");

  assert.equal(other, file);
  assert.equal((await stat(file)).ino, before.ino);
});

test("installing packages again gives another bundle, and so does another folder of packages", async (t) => {
  const { install, bundle, write } = await openVendors(t);
  await install("one", "a", "exports.name = 'a';");
  await install("two", "a", "exports.name = 'a';");
  const files = [await bundle("one", "one", "a"), await bundle("two", "two", "a")];

  for (const version of ["1", "2"]) {
    await write("one/node_modules/.package-lock.json", version);
    files.push(await bundle("one", "one", "a"));
  }

  assert.equal(new Set(files).size, 4);
});

test("packages above the plugin's folder are found, and their installation counts", async (t) => {
  const { install, bundle, write } = await openVendors(t);
  await install(".", "a", "exports.name = 'a';");
  await write("plugins/one/index.ts", "");
  const file = await bundle("one", "plugins/one", "a");
  await write("node_modules/.package-lock.json", "2");

  assert.notEqual(await bundle("one", "plugins/one", "a"), file);
});

test("a package with a native addon is loaded from the plugin's folder", async (t) => {
  const { install, bundle, write, cache } = await openVendors(t);
  await install("one", "native", 'module.exports = require("./addon.node");');
  await write("one/node_modules/native/addon.node", "");

  assert.equal(await bundle("one", "one", "native"), "none");
  assert.deepEqual(await readdir(cache).catch(() => []), []);
});

test("a missing package is named with the place of its import and the remedy", async (t) => {
  const { bundle, write, from } = await openVendors(t);
  await write("one/index.ts", 'import "./lamp.ts";\nimport { x } from "absent";\n');

  await assert.rejects(bundle("one", "one", "absent"), (error: MantelError) => {
    const remedy = `name it under "dependencies" in the package.json in ${from("one")}`;
    assert.equal(error.code, "reload_failed");
    assert.equal(error.message, `the package absent is not installed; ${remedy}`);
    const { file, line, column } = error.extras.location ?? {};
    assert.deepEqual([file, line, column], ["index.ts", 2, 20]);
    assert.ok(error.cause);
    return true;
  });
});

test("a missing package whose importer is gone is named without a place", async (t) => {
  const { bundle } = await openVendors(t);

  await assert.rejects(bundle("one", "one", "absent"), ({ message, extras }: MantelError) => {
    assert.match(message, /^the package absent is not installed; /);
    assert.ok(!("location" in extras));
    return true;
  });
});

test("a package with an error is reported with its place, and built once it is repaired", async (t) => {
  const { install, bundle } = await openVendors(t);
  await install("one", "broken", "exports.name = ;");

  await assert.rejects(bundle("one", "one", "broken"), ({ message, extras }: MantelError) => {
    assert.equal(message, 'syntax error: unexpected ";"');
    assert.equal(extras.location?.file, "node_modules/broken/index.js");
    return true;
  });
  await install("one", "broken", "exports.name = 1;");

  const exported = run(await bundle("one", "one", "broken"), require);
  assert.equal((exported["broken"] as { name: number }).name, 1);
});

test("a package cannot bundle files outside the folders of packages", async (t) => {
  const { install, bundle, write } = await openVendors(t);
  await write("secret.json", '"secret"');
  await install("one", "curious", 'module.exports = require("../../../secret.json");');

  await assert.rejects(
    bundle("one", "one", "curious"),
    /secret\.json is outside the plugin's folder and its packages/,
  );
});

test("pruning removes what no plugin uses, with its compiled code", async (t) => {
  const { install, bundle, vendors, cache } = await openVendors(t);
  for (const name of ["a", "b", "c", "d"]) await install("one", name, "");
  const [a, b, c, d] = [
    await bundle("one", "one", "a"),
    await bundle("one", "one", "b"),
    await bundle("two", "one", "c"),
    await bundle("one", "one", "d"),
  ];
  for (const file of [a, b]) await writeFile(`${file}.x64.cache`, "");

  const hasStopped = [
    vendors.uses("one", [a, b, undefined, d]),
    vendors.uses("one", [a, undefined]),
    vendors.uses("one", [a, b]),
    vendors.uses("one", [a]),
  ];
  await vendors.prune([d]);

  assert.deepEqual(hasStopped, [false, true, false, true]);
  const left = [a, `${a}.x64.cache`, c, d].toSorted();
  assert.deepEqual((await readdir(cache)).map((name) => join(cache, name)).toSorted(), left);
});

test("a bundle that a plugin has just asked for is not pruned", async (t) => {
  const { install, bundle, vendors } = await openVendors(t);
  await install("one", "a", "");
  const file = await bundle("one", "one", "a");
  vendors.uses("one", []);

  await bundle("one", "one", "a");
  await vendors.prune([]);

  assert.ok((await readFile(file)).length > 0);
});

test("pruning a cache that does not exist yet does nothing", async (t) => {
  const { vendors } = await openVendors(t);

  await vendors.prune([]);
});
