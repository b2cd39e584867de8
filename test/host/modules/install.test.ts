import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const MANIFEST = { provides: ["broker.address"] };
const withDependencies = (dependencies: object) =>
  JSON.stringify({ ...(JSON.parse(packageJson("asked", MANIFEST)) as object), dependencies });

/** A plugin that answers with what a package says, and the package, which lies in its folder. */
const files = (dependencies: object) => ({
  "package.json": withDependencies(dependencies),
  "index.ts": `
import { definePlugin } from "@mantel/plugin-sdk";
import { word } from "wordy";
export default definePlugin({
  start: () => ({ services: { "broker.address": async () => ({ url: word }) } }),
});
`,
  "packages/wordy/package.json": '{ "name": "wordy", "version": "1.0.0", "main": "index.js" }',
  "packages/wordy/index.js": 'exports.word = "installed";',
});

test("the packages of a plugin are installed before it loads, and said to be", async (t) => {
  const { registry, services, root } = await startModules(t, {
    asked: files({ wordy: "file:packages/wordy", "@mantel/plugin-sdk": "*" }),
  });

  assert.equal(registry.get("asked").error, null);
  assert.deepEqual(await services.call("broker.address", {}), { url: "installed" });
  assert.ok(!existsSync(join(root, "asked/.mantel-install")));
  assert.match(registry.logs("asked")[0]?.sentence ?? "", /^installing wordy@file:/);
});

test("npm failing leaves the old generation and its packages", async (t) => {
  const { registry, services, write, once } = await startModules(t, {
    asked: files({ wordy: "file:packages/wordy" }),
  });

  await write(
    "asked/package.json",
    withDependencies({ wordy: "file:packages/wordy", absent: "file:packages/absent" }),
  );
  const { lastReload, state } = await once(
    "asked",
    (view) => view.lastReload?.result === "rolled_back",
    30_000,
  );

  assert.equal(state, "active");
  assert.match(lastReload?.error?.message ?? "", /npm could not install the packages/);
  assert.deepEqual(await services.call("broker.address", {}), { url: "installed" });

  await write("asked/package.json", withDependencies({ wordy: "file:packages/wordy" }));
  await until(() => registry.get("asked").lastReload?.result === "unchanged");
});
