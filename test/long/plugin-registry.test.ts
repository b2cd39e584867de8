import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import type { PluginView } from "../../host/api/plugin.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { tarGz } from "../helpers/tar.ts";
import { startVerdaccio, withoutVerdaccio } from "../helpers/verdaccio.ts";

const NAME = "mantel-plugin-echo";

interface PluginOptions {
  readonly version: string;
  readonly hosts?: readonly string[];
  readonly source?: string;
}

/** The files of a plugin, whose first version uses a package of the same registry. */
const filesOf = ({ version, hosts = ["a.test"], source = "" }: PluginOptions) => ({
  "package.json": JSON.stringify({
    name: NAME,
    version,
    type: "module",
    description: "Answers with a word",
    keywords: ["mantel-plugin"],
    engines: { mantel: ">=0.1.0" },
    peerDependencies: { "@mantel/plugin-sdk": "^0.1.0" },
    dependencies: version === "1.0.0" ? { "mantel-test-wordy": "^1.0.0" } : {},
    mantel: {
      id: "echo",
      title: "Echo",
      kinds: ["service"],
      server: "index.ts",
      permissions: { hosts },
    },
  }),
  "README.md": `# Echo ${version}`,
  "index.ts": `
import { definePlugin, Type } from "@mantel/plugin-sdk";
${version === "1.0.0" ? 'import { word } from "mantel-test-wordy";' : 'const word = "no package";'}
${source}
export default definePlugin({
  options: Type.Object({ secret: Type.Optional(Type.String({ writeOnly: true })) }),
  async start(ctx) { ctx.log.info("echo " + word); return {}; },
});
`,
});

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function ask<T>(host: TestHost, path: string, method = "GET", json?: object) {
  const answer = await host.api(path, { method, ...(json ? { json } : {}) });
  const text = await answer.text();
  return { status: answer.status, body: (text === "" ? undefined : JSON.parse(text)) as T };
}

interface Changed {
  readonly plugin: PluginView;
  readonly detail?: string;
  readonly code?: string;
  readonly rolledBack?: boolean;
}

test(
  "a plugin is published, found, installed, updated and removed",
  { skip: withoutVerdaccio },
  async (t) => {
    const registry = await startVerdaccio(t);
    const work = await emptyFolder(t);
    const publish = async (options: PluginOptions) =>
      registry.publish(await write(join(work, options.version), filesOf(options)));
    await registry.publish(
      await write(join(work, "wordy"), {
        "package.json": '{ "name": "mantel-test-wordy", "version": "1.0.0", "main": "index.js" }',
        "index.js": 'exports.word = "hello";',
      }),
    );
    await publish({ version: "1.0.0" });
    const host = await startHost(t, { plugins: [], env: registry.env });
    const view = async () => (await ask<PluginView>(host, "/plugins/echo")).body;

    const found = await ask<{ packages: { name: string; installed: string | null }[] }>(
      host,
      "/plugins/search?q=echo",
    );
    assert.deepEqual(
      found.body.packages.map(({ name, installed }) => [name, installed]),
      [[NAME, null]],
    );

    const installed = await ask<Changed>(host, "/plugins", "POST", { source: NAME });
    assert.equal(installed.status, 201, JSON.stringify(installed.body));
    assert.equal(installed.body.plugin.state, "unconfigured");
    assert.deepEqual(installed.body.plugin.consent?.needed, [
      "run code of its own on this machine",
      "connect to a.test",
    ]);
    await ask(host, "/modules/echo/consent", "POST");
    assert.deepEqual([(await view()).state, (await view()).running], ["active", "1.0.0"]);
    const logs = await ask<{ entries: { sentence: string }[] }>(host, "/modules/echo/logs");
    assert.ok(logs.body.entries.some(({ sentence }) => sentence === "echo hello"));
    const readme = await host.api("/plugins/echo/readme");
    assert.equal(await readme.text(), "# Echo 1.0.0");

    await publish({ version: "1.1.0", hosts: ["a.test", "b.test"] });
    const { body: list } = await ask<{ plugins: PluginView[] }>(host, "/plugins?latest=true");
    assert.deepEqual([list.plugins[0]?.latest, list.plugins[0]?.outdated], ["1.1.0", true]);
    assert.equal((await ask(host, "/plugins/echo/update", "POST")).status, 200);
    const waiting = await view();
    assert.deepEqual([waiting.version, waiting.running], ["1.1.0", "1.0.0"]);
    assert.deepEqual(waiting.consent?.needed, ["connect to b.test"]);
    await ask(host, "/modules/echo/consent", "POST");
    assert.deepEqual([(await view()).running, (await view()).consent], ["1.1.0", null]);

    await publish({ version: "1.2.0", source: 'throw new Error("no start");' });
    const failed = await ask<Changed>(host, "/plugins/echo/update", "POST");
    assert.deepEqual([failed.status, failed.body.rolledBack], [422, true]);
    assert.match(failed.body.detail ?? "", /echo 1\.2\.0 did not start, and 1\.1\.0 was put back/);
    assert.deepEqual([(await view()).version, (await view()).running], ["1.1.0", "1.1.0"]);

    assert.equal((await ask(host, "/plugins/echo/pin", "POST")).status, 200);
    assert.equal(
      (await ask<Changed>(host, "/plugins/echo/update", "POST")).body.code,
      "plugin_pinned",
    );
    await ask(host, "/modules/echo/config", "PATCH", { secret: "hidden" });
    assert.equal((await ask(host, "/plugins/echo?purge=true", "DELETE")).status, 204);
    assert.equal((await ask(host, "/plugins/echo")).status, 404);
    const { body: rest } = await ask<{ modules: ModuleView[] }>(host, "/modules");
    assert.deepEqual(rest.modules, []);
    for (const path of ["packages/echo", "plugins/echo", "cache/modules/echo"]) {
      assert.ok(!existsSync(join(host.data, path)), path);
    }

    await registry.stop();
    const away = await ask<Changed>(host, "/plugins", "POST", { source: "mantel-plugin-other" });
    assert.deepEqual([away.status, away.body.code], [503, "registry_down"]);
  },
);

/** A server that stands for bad registries and bad archives, by path. */
async function serveBadSources(t: TestContext): Promise<string> {
  const manifest = filesOf({ version: "1.0.0" })["package.json"];
  const archives: Readonly<Record<string, Buffer>> = {
    "/up.tgz": tarGz([
      { path: "package/package.json", content: manifest },
      { path: "package/../../../evil", content: "x" },
    ]),
    "/link.tgz": tarGz([
      { path: "package/package.json", content: manifest },
      { path: "package/data", type: 2, link: "/etc" },
    ]),
    "/bad.tgz": tarGz([{ path: "package/package.json", content: manifest }]),
  };
  const server = createServer(({ url: path = "" }, response) => {
    if (path === "/slow") return undefined; // never answers
    const archive = archives[path];
    if (archive) return response.end(archive);
    if (path !== "/wrong-hash") return response.end("<html>sign in to the network</html>");
    const dist = { tarball: `${url}/bad.tgz`, integrity: `sha512-${"A".repeat(86)}==` };
    const version = { name: "wrong-hash", version: "1.0.0", dist };
    const document = { name: "wrong-hash", versions: { "1.0.0": version } };
    return response.end(JSON.stringify({ ...document, "dist-tags": { latest: "1.0.0" } }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

test("bad registries and archives are refused with a reason, and leave nothing", async (t) => {
  const url = await serveBadSources(t);
  const env = { npm_config_registry: url, npm_config_cache: await emptyFolder(t) };
  const host = await startHost(t, { plugins: [], env });
  const install = (source: string) => ask<Changed>(host, "/plugins", "POST", { source });

  const cases = [
    ["web-page", 503, /cannot be used \(it answered with a web page\)/],
    ["slow", 503, /cannot be used|did not answer/],
    ["wrong-hash", 422, /does not match the hash that its registry names/],
    [`${url}/up.tgz`, 422, /leads out of the folder; nothing was written/],
    [`${url}/link.tgz`, 422, /is not a file or folder but a link; nothing was written/],
    [`${url}/page.tgz`, 422, /could not fetch|damaged/],
  ] as const;
  for (const [source, status, message] of cases) {
    const refused = await install(source);
    assert.equal(refused.status, status, JSON.stringify(refused.body));
    assert.match(refused.body.detail ?? "", message);
  }

  assert.deepEqual(await readdir(join(host.data, "packages")), []);
  assert.equal((await host.api("/health/ready")).status, 200);
});
