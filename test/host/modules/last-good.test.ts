import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Assets } from "../../../host/assets/assets.ts";
import { ConfigStore } from "../../../host/config/store.ts";
import { Widget } from "../../../host/modules/lifecycle/widget.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { VersionStore } from "../../../host/modules/versions/version-store.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

const NEEDY = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({
    port: Type.Integer(),
    password: Type.Optional(Type.String({ writeOnly: true })),
  }),
  start: ({ config }) => ({
    services: [provide(brokerAddress, async () => ({ url: config.port + " " + config.password }))],
  }),
});
`;
const needy = {
  "package.json": packageJson("needy", { provides: ["broker.address"] }),
  "index.ts": NEEDY,
};

test("a host that starts with an invalid config section uses the last good one", async (t) => {
  const first = await startModules(t, { needy });
  await first.config.patch({ needy: { port: 80, password: "canary" } }, { admin: true });
  await first.once("needy", ({ state }) => state === "active");
  await first.stop();
  await writeFile(join(first.dataFolder, "config.json"), '{"needy":{"port":"eighty"}}');

  const { registry, services, config, once } = await startModules(t, {}, first.home);
  const { state, lastReload } = registry.get("needy");

  assert.deepEqual(await services.call("broker.address", {}), { url: "80 canary" });
  assert.equal(state, "active");
  assert.match(lastReload?.error?.message ?? "", /config of needy is invalid: \/needy\/port/);
  const kept = await readFile(join(first.dataFolder, "cache/modules/needy/last-good.json"), "utf8");
  assert.doesNotMatch(kept, /canary/);

  await config.patch({ needy: { port: 81 } }, { admin: true });
  await once("needy", (view) => view.lastReload?.result === "reloaded");
  assert.deepEqual(await services.call("broker.address", {}), { url: "81 canary" });
});

test("a removed section does not return", async (t) => {
  const first = await startModules(t, { needy });
  await first.config.patch({ needy: { port: 80 } }, { admin: true });
  await first.once("needy", ({ state }) => state === "active");
  await first.stop();
  await writeFile(join(first.dataFolder, "config.json"), "{}");

  const { registry } = await startModules(t, {}, first.home);

  assert.equal(registry.get("needy").state, "unconfigured");
});

test("a module keeps running with the manifest of its last good code", async (t) => {
  const first = await startModules(t, { needy });
  await first.config.patch({ needy: { port: 80 } }, { admin: true });
  await first.once("needy", ({ state }) => state === "active");
  await first.stop();
  await first.write("needy/package.json", packageJson("needy", { title: "Next" }));
  await first.write("needy/index.ts", "export default ;");

  const { registry, services } = await startModules(t, {}, first.home);

  assert.deepEqual(await services.call("broker.address", {}), { url: "80 undefined" });
  assert.equal(registry.get("needy").name, "needy");
});

test("if a widget does not build at the start, the last built one is served", async (t) => {
  const { folder, side, versionStore } = await openWidget(t);
  const built = await side().start(PLUGIN(folder));
  await writeFile(join(folder, "widget.ts"), "export default ;");

  const next = side();
  const failure = await next.start(PLUGIN(folder));

  assert.equal(built, undefined);
  assert.match(String(failure), /syntax error: unexpected ";"/);
  assert.match(next.view?.url ?? "", /^\/assets\/widgets\/clock\.[0-9a-f]{16}\.js$/);
  assert.equal((await versionStore.pluginIn(folder))?.id, "clock");
});

test("a cached widget is not shown for a plugin without a widget", async (t) => {
  const { folder, side } = await openWidget(t);
  await side().start(PLUGIN(folder));
  const { widget: _widget, ...manifest } = PLUGIN(folder).manifest;

  const next = side();
  await next.start({ ...PLUGIN(folder), manifest }, true);

  assert.equal(next.view, null);
});

test("a widget that was never built is reported as a failure", async (t) => {
  const { folder, side } = await openWidget(t);
  await writeFile(join(folder, "widget.ts"), "export default ;");

  await assert.rejects(side().start(PLUGIN(folder)), { code: "reload_failed" });
});

const PLUGIN = (folder: string) => ({
  id: "clock",
  folder,
  version: "1.0.0",
  manifest: { id: "clock", kinds: ["widget" as const], widget: "widget.ts" },
});

async function openWidget(t: Parameters<typeof emptyFolder>[0]) {
  const home = await emptyFolder(t);
  const folder = join(home, "clock");
  await mkdir(folder);
  await writeFile(join(folder, "widget.ts"), "export default 1;");
  const log = collectedLog();
  const cacheFolder = join(home, "cache");
  const versionStore = new VersionStore(cacheFolder);
  const config = await ConfigStore.open({ dataFolder: home, environment: {}, log });
  onTestEnd(t, () => config.close());
  const side = () => {
    const assets = new Assets({ log, cacheFolder });
    const isShipped = () => false;
    return new Widget("clock", {
      assets,
      versionStore,
      config,
      isShipped,
      apiPaths: new ApiPaths(),
      log: new ModuleLog(log),
      onServed: () => undefined,
    });
  };
  return { folder, versionStore, side };
}
