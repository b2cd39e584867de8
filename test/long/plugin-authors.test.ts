import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { PluginView } from "../../host/api/plugin.ts";
import { buildCreate, buildSdk } from "../../scripts/pack-sdk/pack.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";
import { startVerdaccio, withoutVerdaccio } from "../helpers/verdaccio.ts";

const NAME = "mantel-plugin-garden-lamp";
const ID = "garden-lamp";

test(
  "an author without the repository creates, tests, publishes and updates a plugin",
  { skip: withoutVerdaccio },
  async (t) => {
    const registry = await startVerdaccio(t);
    const work = await emptyFolder(t);
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const npm = async (folder: string, ...args: readonly string[]) => {
      const options = { cwd: folder, env: environment };
      const failed = (error: { stdout: string; stderr: string }) =>
        assert.fail(`npm ${args.join(" ")}\n${error.stdout}\n${error.stderr}`);
      return (await promisify(execFile)("npm", args, options).catch(failed)).stdout;
    };
    const folderOf = async (name: string) => {
      await mkdir(join(work, name));
      return join(work, name);
    };
    for (const write of [buildSdk, buildCreate]) {
      const folder = await folderOf(write.name);
      await write(folder);
      await registry.publish(folder);
    }

    const author = await folderOf("author");
    const cache = join(work, "npm-cache"); // npm runs the package of an earlier test from its own
    const create = ["create", "--yes", "--cache", cache, "--registry", registry.url];
    await npm(author, ...create, "mantel-plugin", ID, "--", "--kind", "all");
    const plugin = join(author, ID);
    assert.ok(existsSync(join(plugin, ".git")));
    await useRegistry(plugin, registry.url);
    await npm(plugin, "install");
    assert.match(await npm(plugin, "test"), /^# pass 4$/m);
    await registry.publish(plugin);
    const user = await folderOf("user");
    await useRegistry(user, registry.url);
    await npm(user, "install", `${registry.url}${NAME}/-/${NAME}-0.1.0.tgz`);
    assert.ok(existsSync(join(user, "node_modules/@mantel/plugin-sdk/index.js")));

    const host = await startHost(t, { plugins: [], env: registry.env });
    const ask = async <T>(path: string, method = "GET", json?: object) => {
      const answer = await host.api(path, { method, ...(json ? { json } : {}) });
      assert.ok(answer.ok, `${method} ${path}: ${answer.status}\n${host.log()}`);
      const text = await answer.text();
      return (text === "" ? undefined : JSON.parse(text)) as T;
    };
    const view = () => ask<PluginView>(`/plugins/${ID}`);
    await ask("/plugins", "POST", { source: NAME });
    await ask(`/modules/${ID}/consent`, "POST");
    assert.deepEqual([(await view()).state, (await view()).running], ["active", "0.1.0"]);
    const lamps = async () =>
      (await ask<{ value: unknown }>(`/channels/${ID}/lamps`)).value as { on: number } | null;
    await ask("/smart-home/devices/gardenlamp:light:1/command", "POST", { on: true });
    await until(async () => (await lamps())?.on === 1);
    assert.equal(await ask("/services/gardenlamp.lamps.turn", "POST", { on: true }), 1);
    await until(async () => (await lamps())?.on === 2);
    const module = await ask<{ widget: { url: string } }>(`/modules/${ID}`);
    const code = await (await fetch(new URL(module.widget.url, host.url))).text();
    assert.match(code, /\{on\} of \{all\} on/);

    const manifest = join(plugin, "package.json");
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, text.replace('"version": "0.1.0"', '"version": "0.2.0"'));
    await registry.publish(plugin);
    await ask(`/plugins/${ID}/update`, "POST");
    assert.equal((await view()).running, "0.2.0");
    assert.equal((await lamps())?.on, 2, "an update keeps the state");
    await ask(`/plugins/${ID}?purge=true`, "DELETE");
    assert.equal((await host.api(`/modules/${ID}`)).status, 404);
  },
);

/** Takes the SDK from this registry, and all other packages from npm's own. */
function useRegistry(folder: string, url: string): Promise<void> {
  return writeFile(join(folder, ".npmrc"), `@mantel:registry=${url}\n`);
}
