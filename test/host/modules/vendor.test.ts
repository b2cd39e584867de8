import assert from "node:assert/strict";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { VendorCache } from "../../../host/modules/build/vendor.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const importing = (...packages: string[]) =>
  `import { definePlugin } from "@mantel/plugin-sdk";
${packages.map((name) => `import "${name}";`).join("\n")}
export default definePlugin({ start() {} });
`;
const plugin = (id: string, ...packages: string[]) => ({
  "package.json": packageJson(id),
  "index.ts": importing(...packages),
});

test("unused packages are removed from the cache, and those in use stay", async (t) => {
  const { registry, write, dataFolder } = await startModules(t, {
    one: plugin("one", "semver"),
    two: plugin("two", "chokidar"),
  });
  const bundles = async () => {
    const names = await readdir(join(dataFolder, "cache", "vendor"));
    return names.filter((name) => name.endsWith(".cjs")).length;
  };
  const counts = [await bundles()];

  for (const packages of [["semver", "chokidar"], ["typebox"], ["semver", "typebox"]]) {
    await write("one/index.ts", importing(...packages));
    await registry.reload("one");
    counts.push(await bundles());
  }

  // The running and the previous bundle, and that of the other plugin.
  assert.deepEqual(counts, [2, 3, 3, 3]);
});

test("packages unused when the host ended are removed at its next start", async (t) => {
  const before = await startModules(t, { one: plugin("one", "semver") });
  await before.write("one/index.ts", importing("chokidar"));
  await before.registry.reload("one");
  await before.stop();
  const folder = join(before.dataFolder, "cache", "vendor");
  const bundles = async () => (await readdir(folder)).filter((name) => name.endsWith(".cjs"));
  const used = await bundles();
  await writeFile(join(folder, "0123456789abcdef.cjs"), "");

  const after = await startModules(t, {}, before.home);

  await until(async () => (await bundles()).length === 2);
  assert.deepEqual(await bundles(), used, "also those of what can be gone back to");
  await after.registry.rollBack("one");
  assert.equal(after.registry.get("one").state, "active");
});

test("homes that share a folder of packages share its bundles", async (t) => {
  const home = await emptyFolder(t);
  const cache = new VendorCache(join(home, "vendor"));
  const bundle = (id: string) =>
    cache.bundle(id, join(home, id), new Map([["semver", "index.ts"]]));
  for (const id of ["one", "two"]) {
    await mkdir(join(home, id));
    await symlink(resolve("node_modules"), join(home, id, "node_modules"));
  }
  await mkdir(join(home, "own/node_modules/semver"), { recursive: true });
  await writeFile(join(home, "own/node_modules/semver/index.js"), "exports.own = true;");

  const [one, two, own] = [await bundle("one"), await bundle("two"), await bundle("own")];

  assert.equal(one, two);
  assert.notEqual(own, one);
});

/** A process has its plugin's name as its title from the moment it is asked to load the code. */
const TITLED = `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
import { titleAtLoad, version } from "titled";
export default definePlugin({
  start: () => ({
    services: [provide(brokerAddress, async () => ({ url: version + " " + titleAtLoad }))],
  }),
});
`;
const titled = (version: number) => ({
  "node_modules/.package-lock.json": `{ "packages": { "titled": "${version}" } }`,
  "node_modules/titled/package.json": `{ "name": "titled", "version": "${version}.0.0" }`,
  "node_modules/titled/index.js": `exports.titleAtLoad = process.title; exports.version = ${version};`,
});

test("a reload uses preloaded packages, unless they have changed", async (t) => {
  const manifest = packageJson("one", { provides: ["broker.address"] });
  const one = { "package.json": manifest, "index.ts": TITLED, ...titled(1) };
  const { registry, services, write } = await startModules(t, { one });
  const ask = async () => ((await services.call("broker.address", {})) as { url: string }).url;
  const reload = async (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) await write(`one/${name}`, text);
    await registry.reload("one");
    return ask();
  };

  const first = await ask();
  const second = await reload({ "index.ts": `${TITLED} export const saves = 1;` });
  const third = await reload({ "index.ts": `${TITLED} export const saves = 2;` });
  const other = await reload(titled(2));

  assert.deepEqual([first, other], ["1 mantel one", "2 mantel one"]);
  for (const ahead of [second, third]) assert.match(ahead, /^1 (?!mantel one)/);
});
