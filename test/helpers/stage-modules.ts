import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { ChannelRegistry } from "../../host/channels/registry.ts";
import { ConfigStore } from "../../host/config/store.ts";
import { Bus } from "../../host/events/bus.ts";
import { HomeFeeds } from "../../host/home/feeds.ts";
import { hashOf } from "../../host/modules/build/code-hash.ts";
import { Compiler } from "../../host/modules/build/compile.ts";
import { Consents } from "../../host/modules/consent/consents.ts";
import { Module, type ModuleDependencies } from "../../host/modules/lifecycle/module.ts";
import type { WidgetAssets } from "../../host/modules/lifecycle/widget.ts";
import { type PluginPackage, readManifest } from "../../host/modules/manifest/manifest.ts";
import { ModuleLog } from "../../host/modules/state/logs.ts";
import { VersionStore } from "../../host/modules/versions/version-store.ts";
import { ApiPaths } from "../../host/routes/api-paths.ts";
import { Scheduler } from "../../host/schedule/scheduler.ts";
import { ServiceRegistry } from "../../host/services/registry.ts";
import { collectedLog } from "./collected-log.ts";
import { fakeProcesses } from "./fake-processes.ts";
import { emptyFolder } from "./folder.ts";
import { onTestEnd } from "./on-test-end.ts";

/** A `package.json` with a server side, unless `mantel` says otherwise. */
export function manifest(id: string, mantel: object = {}, version = "1.0.0"): string {
  const sides = "widget" in mantel ? {} : { server: "index.ts" };
  const own = ["widget", "bridge"].filter((kind) => kind in mantel);
  const kinds = own.length > 0 ? own : ["service"];
  return JSON.stringify({
    name: `@test/${id}`,
    version,
    mantel: { id, kinds, ...sides, ...mantel },
  });
}

/**
 * All that modules need, with real files, config, builds and records. Processes are none: the exports of a plugin's
 * `index.ts` answer the calls to it. A widget's code is its source; a text with "error" does not build.
 */
export async function stageModules(t: TestContext, given?: { readonly home: string }) {
  const home = given?.home ?? (await emptyFolder(t));
  const dataFolder = join(home, "data");
  const cacheFolder = join(home, "cache");
  const root = join(home, "plugins");
  for (const folder of [dataFolder, cacheFolder, root]) await mkdir(folder, { recursive: true });
  const hostLog = collectedLog();
  const config = await ConfigStore.open({ dataFolder, environment: {}, log: hostLog });
  const consents = await Consents.open({ dataFolder, log: hostLog });
  const services = new ServiceRegistry();
  const scheduler = await Scheduler.open({ dataFolder, log: hostLog, timeZone: () => "UTC" });
  const apiPaths = new ApiPaths();
  const bus = new Bus();
  const feeds = new HomeFeeds(bus);
  const compiler = new Compiler(cacheFolder, (id) => config.current.modules[id]?.links === true);
  const processes = fakeProcesses();
  const withdrawn: string[] = [];
  const served: string[] = [];
  /** Runs while a widget is built. */
  const building = { during: async (): Promise<void> => undefined };
  const shipped = new Set<string>();
  const changes: string[] = [];
  const modules: Module[] = [];
  const gone = (name: string) => ({ accept: () => undefined, gone: () => withdrawn.push(name) });
  const ofBridges = (what: string) => ({
    bridgeChanged: () => undefined,
    removeBridge: (id: string) => withdrawn.push(`${what} of ${id}`),
  });
  const parts = {
    devices: ofBridges("devices"),
    scenes: ofBridges("scenes"),
    publications: {
      "calendar.window": gone("calendar.window"),
    },
    kernel: { reason: "this is a test" },
    home: { feeds },
    scheduler,
    routeSecrets: {},
    routePrefix: "/api/v1",
    apiPaths,
    channels: new ChannelRegistry({ bus, paths: apiPaths }),
    services,
    config,
    consents,
    compiler,
    warmProcesses: processes.pool,
    dataFolder,
    cacheFolder,
    inspect: new Map<string, number>(),
    versionStore: new VersionStore(cacheFolder),
    isShipped: ({ id }: { id: string }) => shipped.has(id),
    assets: assetsOf(served, building),
  } as unknown as Omit<ModuleDependencies, "log" | "changed">;
  onTestEnd(t, async () => {
    await Promise.all(modules.map((module) => module.shutDown()));
    feeds.close();
    for (const process of processes.all) process.crash();
    await Promise.all([compiler.close(), consents.close(), config.close(), scheduler.close()]);
  });
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  };
  /** The module of a plugin's folder, or of a manifest that was there before. Its states are in `changes`. */
  const open = async (id: string, known?: PluginPackage): Promise<Module> => {
    const plugin = known ?? (await readManifest(join(root, id)));
    await consents.grantPlugins([plugin]);
    const log = new ModuleLog(hostLog);
    const changed = ({ view }: Module) => {
      if (changes.at(-1) !== view.state) changes.push(view.state);
    };
    const module = new Module(plugin, { ...parts, log, changed });
    modules.push(module);
    return module;
  };
  /** Writes a plugin and gives its module. */
  const add = async (id: string, files: Readonly<Record<string, string>>): Promise<Module> => {
    await write(`${id}/package.json`, manifest(id));
    for (const [file, text] of Object.entries(files)) await write(`${id}/${file}`, text);
    return open(id);
  };
  /** The plugin that the host finds after a change of its manifest. */
  const adopt = async (module: Module): Promise<void> => {
    module.setOnDisk(await readManifest(join(root, module.id)));
  };
  return {
    home,
    root,
    dataFolder,
    cacheFolder,
    hostLog,
    config,
    consents,
    services,
    compiler,
    processes,
    withdrawn,
    served,
    building,
    shipped,
    changes,
    parts,
    write,
    remove: (file: string) => rm(join(root, file), { recursive: true }),
    open,
    add,
    adopt,
  };
}

export type Stage = Awaited<ReturnType<typeof stageModules>>;

function assetsOf(served: string[], building: { during: () => Promise<void> }): WidgetAssets {
  return {
    buildWidget: async ({ folder, entry }) => {
      const file = join(folder, entry);
      const code = await readFile(file, "utf8");
      await building.during();
      if (code.includes("error"))
        throw new MantelError("reload_failed", `the widget has an ${code}`);
      return { hash: hashOf(code), code, map: "", inputs: [file] };
    },
    setWidget: (id, { code, hash }) => {
      served.push(`${id}: ${code}`);
      return `/widgets/${id}/${hash}.js`;
    },
    removeWidget: (id) => served.push(`${id}: none`),
  };
}
