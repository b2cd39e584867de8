import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import { Calendar } from "../../host/calendar/calendar.ts";
import { ChannelRegistry } from "../../host/channels/registry.ts";
import { ConfigStore } from "../../host/config/store.ts";
import { Commands } from "../../host/devices/commands.ts";
import { DeviceRegistry } from "../../host/devices/registry.ts";
import { Discovery } from "../../host/discovery/discovery.ts";
import { Bus } from "../../host/events/bus.ts";
import { HomeFeeds } from "../../host/home/feeds.ts";
import { openLog } from "../../host/log.ts";
import { Compiler } from "../../host/modules/build/compile.ts";
import { Consents } from "../../host/modules/consent/consents.ts";
import { ModuleManager } from "../../host/modules/manager.ts";
import { BridgeTable } from "../../host/modules/module-bridge.ts";
import { Kernel } from "../../host/modules/process/sandbox/kernel.ts";
import { WarmProcessPool } from "../../host/modules/process/warm-process.ts";
import { SourceFolders } from "../../host/modules/sources/source-folders.ts";
import { VersionStore } from "../../host/modules/versions/version-store.ts";
import { ApiPaths } from "../../host/routes/api-paths.ts";
import { RouteSecrets } from "../../host/routes/secrets.ts";
import { SceneRegistry } from "../../host/scenes/registry.ts";
import { Scheduler } from "../../host/schedule/scheduler.ts";
import { ServiceRegistry } from "../../host/services/registry.ts";
import { emptyFolder } from "./folder.ts";
import { onTestEnd } from "./on-test-end.ts";
import { watchResources } from "./resources.ts";
import { until } from "./until.ts";
import { copyWarmCache } from "./warm-cache.ts";

/** Files of a plugin by their path in its folder. */
export type PluginFiles = Readonly<Record<string, string>>;

/** A manifest with what every test plugin has. */
export function packageJson(id: string, mantel: object = {}): string {
  const kinds = "bridge" in mantel ? ["bridge"] : ["service"];
  return JSON.stringify({
    name: `@test/${id}`,
    version: "1.0.0",
    type: "module",
    mantel: { id, kinds, server: "index.ts", ...mantel },
  });
}

/** A folder for plugins and data. It goes with the test. */
export async function openHome(t: TestContext, within = tmpdir()): Promise<string> {
  const home = await emptyFolder(t, within);
  await mkdir(join(home, "plugins"));
  await mkdir(join(home, "data"));
  await symlink(resolve(import.meta.dirname, "../../node_modules"), join(home, "node_modules"));
  return home;
}

/**
 * All that modules need, without HTTP: real processes, real files, real registries. With the `home` of
 * modules that were stopped it is the host's next start.
 */
export async function startModules(
  t: TestContext,
  plugins: Readonly<Record<string, PluginFiles>>,
  before?: string,
  {
    consentOnSave = false,
    restAfterMs,
  }: { readonly consentOnSave?: boolean; readonly restAfterMs?: number } = {},
) {
  const assertClosed = watchResources();
  const home = before ?? (await openHome(t));
  const root = join(home, "plugins");
  const dataFolder = join(home, "data");
  const cacheFolder = join(dataFolder, "cache");
  await copyWarmCache(dataFolder, { hasPackages: false });
  const write = async (file: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  };
  for (const [id, files] of Object.entries(plugins)) {
    for (const [file, content] of Object.entries(files)) await write(`${id}/${file}`, content);
  }

  const log = openLog("error", false);
  const bus = new Bus();
  const config = await ConfigStore.open({ dataFolder, environment: {}, log });
  const bridges = new BridgeTable();
  const services = new ServiceRegistry();
  const apiPaths = new ApiPaths();
  const channels = new ChannelRegistry({ bus, paths: apiPaths });
  const devices = await DeviceRegistry.open({ dataFolder, bus, bridges, log });
  const commands = new Commands({ bus, devices, bridges, log });
  const scenes = await SceneRegistry.open({ dataFolder, bus, devices, bridges, commands, log });
  const feeds = new HomeFeeds(bus);
  const scheduler = await Scheduler.open({ dataFolder, log, timeZone: () => "Europe/Berlin" });
  const calendar = new Calendar({
    bus,
    config,
    call: () => Promise.reject(new Error("no calendar")),
  });
  const kernel = await Kernel.open(cacheFolder);
  const warmProcesses = new WarmProcessPool(kernel);
  const compiler = new Compiler(cacheFolder, (id) => config.current.modules[id]?.links === true);
  const consents = await Consents.open({ dataFolder, log, onSave: consentOnSave });
  const published = new Map<string, unknown>();
  const keptUnder = (name: string) => ({
    accept: (value: unknown) => published.set(name, value),
    gone: () => published.delete(name),
  });
  const sourceFolders = new SourceFolders({ dataFolder, log });
  const registry = new ModuleManager({
    routeSecrets: await RouteSecrets.open(dataFolder, log),
    routePrefix: "/api/v1",
    bus,
    config,
    log,
    devices,
    scenes,
    services,
    channels,
    scheduler,
    discovery: new Discovery(),
    sourceFolders,
    home: { devices, scenes, commands, calendar, feeds, coordinates: () => undefined },
    apiPaths,
    bridges,
    kernel,
    warmProcesses,
    compiler,
    dataFolder,
    cacheFolder,
    roots: [root],
    inspect: new Map(),
    restAfterMs,
    consents,
    versionStore: new VersionStore(cacheFolder),
    publications: {
      "calendar.window": keptUnder("calendar.window"),
    },
    isShipped: () => false,
    isShippedId: () => false,
    packageFolders: () => [],
    assets: {
      buildWidget: () => Promise.reject(new Error("these tests have no widgets")),
      setWidget: () => "",
      removeWidget: () => undefined,
    },
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await registry.close();
    feeds.close();
    sourceFolders.close();
    await scheduler.close();
    await consents.close();
    await compiler.close();
    await warmProcesses.close();
    await kernel.close();
    await config.close();
    await assertClosed();
  };
  onTestEnd(t, stop);
  await registry.start();

  return {
    home,
    stop,
    kernel,
    registry,
    channels,
    apiPaths,
    bus,
    config,
    services,
    devices,
    commands,
    scenes,
    published,
    root,
    dataFolder,
    write,
    /** Saves a file with a part of it replaced. */
    edit: async (file: string, replace: (source: string) => string): Promise<void> => {
      await write(file, replace(await readFile(join(root, file), "utf8")));
    },
    /** The module, once `condition` holds of it. */
    once: async (id: string, condition: (view: ModuleView) => boolean, withinMs = 5_000) => {
      await until(() => condition(registry.get(id)), { withinMs });
      return registry.get(id);
    },
  };
}
