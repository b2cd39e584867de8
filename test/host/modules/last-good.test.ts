import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Assets } from "../../../host/assets/assets.ts";
import { LastGoods } from "../../../host/modules/code/last-good.ts";
import { ModuleLog } from "../../../host/modules/logs.ts";
import { WidgetSide } from "../../../host/modules/widget-side.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

const NEEDY = `
import { definePlugin, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({
    port: Type.Integer(),
    password: Type.Optional(Type.String({ writeOnly: true })),
  }),
  start: ({ config }) => ({
    services: { "broker.address": async () => ({ url: config.port + " " + config.password }) },
  }),
});
`;
const needy = {
  "package.json": packageJson("needy", { provides: ["broker.address"] }),
  "index.ts": NEEDY,
};

test("a host that starts with a wrong section of the config runs the last good one", async (t) => {
  const first = await startModules(t, { needy });
  await first.config.patch({ needy: { port: 80, password: "canary" } }, { admin: true });
  await first.once("needy", ({ state }) => state === "active");
  await first.stop();
  await writeFile(join(first.dataFolder, "config.json"), '{"needy":{"port":"eighty"}}');

  const { registry, services, config, once } = await startModules(t, {}, first.home);
  const { state, lastReload } = registry.get("needy");

  assert.deepEqual(await services.call("broker.address", {}), { url: "80 canary" });
  assert.equal(state, "active");
  assert.match(lastReload?.error?.message ?? "", /config of needy does not fit: \/needy\/port/);
  const kept = await readFile(join(first.dataFolder, "cache/modules/needy/last-good.json"), "utf8");
  assert.doesNotMatch(kept, /canary/);

  await config.patch({ needy: { port: 81 } }, { admin: true });
  await once("needy", (view) => view.lastReload?.result === "reloaded");
  assert.deepEqual(await services.call("broker.address", {}), { url: "81 canary" });
});

test("a section that was taken out is not brought back", async (t) => {
  const first = await startModules(t, { needy });
  await first.config.patch({ needy: { port: 80 } }, { admin: true });
  await first.once("needy", ({ state }) => state === "active");
  await first.stop();
  await writeFile(join(first.dataFolder, "config.json"), "{}");

  const { registry } = await startModules(t, {}, first.home);

  assert.equal(registry.get("needy").state, "unconfigured");
});

test("a module goes on under the manifest of its last good code", async (t) => {
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

test("a widget that does not build at the start is the one that was served last", async (t) => {
  const { folder, side, lastGoods } = await openWidget(t);
  const built = await side().start(PLUGIN(folder));
  await writeFile(join(folder, "widget.ts"), "export default ;");

  const next = side();
  const failure = await next.start(PLUGIN(folder));

  assert.equal(built, undefined);
  assert.match(String(failure), /Unexpected ";"/);
  assert.match(next.view?.url ?? "", /^\/assets\/widgets\/clock\.[0-9a-f]{16}\.js$/);
  assert.equal((await lastGoods.pluginIn(folder))?.id, "clock");
});

test("a widget that never built is a failure", async (t) => {
  const { folder, side } = await openWidget(t);
  await writeFile(join(folder, "widget.ts"), "export default ;");

  await assert.rejects(side().start(PLUGIN(folder)), { code: "reload_failed" });
});

const PLUGIN = (folder: string) => ({
  ...{ id: "clock", folder, version: "1.0.0" },
  manifest: { id: "clock", kinds: ["widget" as const], widget: "widget.ts" },
});

async function openWidget(t: Parameters<typeof emptyFolder>[0]) {
  const home = await emptyFolder(t);
  const folder = join(home, "clock");
  await mkdir(folder);
  await writeFile(join(folder, "widget.ts"), "export default 1;");
  const log = collectedLog();
  const cacheFolder = join(home, "cache");
  const lastGoods = new LastGoods(cacheFolder);
  const side = () => {
    const assets = new Assets({ log, cacheFolder });
    return new WidgetSide("clock", { assets, lastGoods, log: new ModuleLog(log) });
  };
  return { folder, lastGoods, side };
}
