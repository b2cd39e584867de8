import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadPackages, loadPlugin } from "../../../plugin-sdk/runtime/load.ts";
import { emptyFolder } from "../../helpers/folder.ts";

/** Bundles are functions that wait for their `require`, as the host makes them. */
const bundled = (code: string) =>
  `module.exports = function (require, module, exports) {${code}\n};`;
const PLUGIN = 'exports.default = require("@mantel/plugin-sdk").definePlugin({ start });';

async function load(t: TestContext, { code = "", vendor }: { code?: string; vendor?: string }) {
  const folder = await emptyFolder(t);
  const files = { "bundle.cjs": bundled(code), "vendor.cjs": bundled(vendor ?? "") };
  await mkdir(join(folder, "node_modules", "installed"), { recursive: true });
  await writeFile(join(folder, "node_modules/installed/index.js"), 'exports.from = "folder";');
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const packages = loadPackages({
    id: "garden-bridge",
    folder,
    compiled: folder,
    dataFolder: folder,
    permissions: {},
    network: "none",
    vendor: vendor === undefined ? undefined : join(folder, "vendor.cjs"),
  });
  return loadPlugin(join(folder, "bundle.cjs"), packages);
}

test("loading a bundle returns its default export and starts nothing", async (t) => {
  const plugin = await load(t, {
    code: `const start = () => { throw new Error("started"); }; ${PLUGIN}`,
  });

  assert.equal(plugin.mantelPlugin, 1);
  assert.throws(() => plugin.start({} as never), /started/);
});

test("packages are loaded from the vendor bundle, or else from the plugin's folder", async (t) => {
  const plugin = await load(t, {
    vendor: 'exports["bundled"] = { from: "vendor" };',
    code: `const start = () => [require("bundled").from, require("installed").from, require("node:path").sep];
      ${PLUGIN}`,
  });

  assert.deepEqual(plugin.start({} as never), ["vendor", "folder", "/"]);
});

for (const [name, advice] of [
  ["definePlugn", "did you mean definePlugin?"],
  ["DefinePlugin", "did you mean definePlugin?"],
  ["somethingElse", "check the name"],
] as const) {
  test(`a name that the SDK does not export is refused: ${name}`, async (t) => {
    const code = `const sdk = require("@mantel/plugin-sdk"); exports.default = sdk.${name}({ start() {} });`;

    const message = `"@mantel/plugin-sdk" does not export ${name}; ${advice}`;
    await assert.rejects(load(t, { code }), { name: "TypeError", message });
  });
}

test("a plugin may ask if the SDK has an export, and await it", async (t) => {
  const code = `const sdk = require("@mantel/plugin-sdk");
    const start = async () => ["definePlugn" in sdk, "every" in sdk, (await Promise.resolve(sdk)) === sdk];
    ${PLUGIN}`;

  const plugin = await load(t, { code });

  assert.deepEqual(await plugin.start({} as never), [false, true, true]);
});

test("a missing package fails the load and is named", async (t) => {
  await assert.rejects(load(t, { code: 'require("no-such-package");' }), /no-such-package/);
});

test("an error thrown at the top level is rethrown unchanged", async (t) => {
  await assert.rejects(load(t, { code: 'throw new RangeError("boom");' }), {
    name: "RangeError",
    message: "boom",
  });
});

for (const [what, code, reason] of [
  ["no default export", "", /the default export is missing: write "export default definePlugin/],
  ["a default that is a function", "exports.default = () => 1;", /is not a plugin/],
  ["a default that is null", "exports.default = null;", /is not a plugin/],
  ["a mark without a start", "exports.default = { mantelPlugin: 1 };", /is not a plugin/],
  [
    "a mark of another version",
    "exports.default = { mantelPlugin: 2, start() {} };",
    /is not a plugin/,
  ],
] as const) {
  test(`a bundle with ${what} is refused with an example of a valid export`, async (t) => {
    await assert.rejects(load(t, { code }), { name: "TypeError", message: reason });
  });
}
