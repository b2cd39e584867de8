import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once as onceEmitted } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

const MANIFEST = { provides: ["broker.address"] };
const withDependencies = (dependencies: object) =>
  JSON.stringify({ ...(JSON.parse(packageJson("asked", MANIFEST)) as object), dependencies });

/** A plugin that answers with what a package says, and the package, which lies in its folder. */
const files = (dependencies: object) => ({
  "package.json": withDependencies(dependencies),
  "index.ts": `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
import { word } from "wordy";
export default definePlugin({
  start: () => ({ services: [provide(brokerAddress, async () => ({ url: word }))] }),
});
`,
  "packages/wordy/package.json": '{ "name": "wordy", "version": "1.0.0", "main": "index.js" }',
  "packages/wordy/index.js": 'exports.word = "installed";',
});

test("the packages of a plugin are installed before it loads, with a log record", async (t) => {
  const { registry, services, root } = await startModules(t, {
    asked: files({ wordy: "file:packages/wordy", "@mantel/plugin-sdk": "*" }),
  });

  assert.equal(registry.get("asked").error, null);
  assert.deepEqual(await services.call("broker.address", {}), { url: "installed" });
  assert.ok(!existsSync(join(root, "asked/.mantel-install")));
  assert.match(registry.logs("asked")[0]?.sentence ?? "", /^installing wordy@file:/);
});

test("the module shows that it is being installed until it runs", async (t) => {
  const { bus, write, registry } = await startModules(t, {});
  const progress = new Set<string | null>();
  bus.on(({ topic, data }) => {
    if (topic === "module.state") progress.add(data.module.progress);
  });

  for (const [file, text] of Object.entries(files({ wordy: "file:packages/wordy" })).toReversed()) {
    await write(`asked/${file}`, text);
  }
  await until(() => registry.get("asked").state === "active", { withinMs: 30_000 });

  assert.ok([...progress].some((each) => each?.startsWith("installing wordy@file:")));
  assert.equal(registry.get("asked").progress, null);
});

/** A registry (npm's package metadata, and one tarball) that counts what is fetched from it. */
async function serveRegistry(t: TestContext): Promise<string> {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "package"));
  await writeFile(join(folder, "package/package.json"), files({})["packages/wordy/package.json"]);
  await writeFile(join(folder, "package/index.js"), files({})["packages/wordy/index.js"]);
  await promisify(execFile)("tar", ["-czf", "wordy-1.0.0.tgz", "package"], { cwd: folder });
  const tarball = await readFile(join(folder, "wordy-1.0.0.tgz"));
  const server = createServer((request, response) => {
    if (request.url?.endsWith(".tgz") === true) return response.end(tarball);
    if (request.url !== "/wordy") return response.writeHead(404).end();
    const dist = { tarball: `${url}/wordy-1.0.0.tgz` };
    const version = { name: "wordy", version: "1.0.0", main: "index.js", dist };
    const document = {
      name: "wordy",
      "dist-tags": { latest: "1.0.0" },
      versions: { "1.0.0": version },
    };
    return response.end(JSON.stringify(document));
  }).listen(0, "127.0.0.1");
  await onceEmitted(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

/** Lets npm ask this registry, and answer `audit` with a text, where one is given. */
async function useNpm(t: TestContext, registry: string, audit?: string): Promise<void> {
  const folder = await emptyFolder(t);
  const { stdout: npm } = await promisify(execFile)("sh", ["-c", "command -v npm"]);
  const answer = audit === undefined ? "" : `[ "$1" = audit ] && echo '${audit}' && exit 1\n`;
  await writeFile(join(folder, "npm"), `#!/bin/sh\n${answer}exec ${npm.trim()} "$@"\n`, {
    mode: 0o755,
  });
  const before = { ...process.env };
  process.env.PATH = `${folder}:${process.env.PATH}`;
  process.env.npm_config_registry = registry;
  process.env.npm_config_cache = join(folder, "cache");
  onTestEnd(t, async () => {
    process.env = before;
  });
}

test("packages whose signatures cannot be verified are installed with a warning", async (t) => {
  await useNpm(t, await serveRegistry(t));

  const { registry, services } = await startModules(t, { asked: files({ wordy: "1.0.0" }) });

  assert.equal(registry.get("asked").error, null);
  assert.deepEqual(await services.call("broker.address", {}), { url: "installed" });
  const warned = registry.logs("asked", { level: "warn" }).map(({ sentence }) => sentence);
  assert.deepEqual(warned, ["could not verify the signatures of packages"]);
});

test("packages with an invalid registry signature are refused by name", async (t) => {
  const audit = '{\n"invalid": [{ "name": "wordy", "version": "1.0.0" }], "missing": []\n}';
  await useNpm(t, await serveRegistry(t), audit);

  const { registry, root } = await startModules(t, { asked: files({ wordy: "1.0.0" }) });

  const { state, error, progress } = registry.get("asked");
  assert.deepEqual([state, progress], ["failed", null]);
  assert.match(error?.message ?? "", /^invalid registry signature: wordy@1\.0\.0;/);
  assert.ok(!existsSync(join(root, "asked/node_modules")));
});

test("a failed npm install keeps the old generation and its packages", async (t) => {
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
