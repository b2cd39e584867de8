import { join, resolve } from "node:path";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import type { Coordinates } from "@mantel/plugin-sdk/home";
import { IdleCollector } from "@mantel/plugin-sdk/idle-collector";
import { type ServiceDefinition, serviceKey } from "@mantel/plugin-sdk/service";
import { homeNotify } from "@mantel/plugin-sdk/services";
import { Assets } from "./assets/assets.ts";
import { Audit } from "./auth/audit.ts";
import { LastUse } from "./auth/last-use.ts";
import { Pairings } from "./auth/pairings.ts";
import { Tokens } from "./auth/tokens.ts";
import { Backups } from "./backup/backups.ts";
import { endBuildService } from "./build-service.ts";
import { FeedAddresses } from "./calendar/feed-addresses.ts";
import { CalendarFeed } from "./calendar/feed.ts";
import { openCalendars } from "./calendar/open-calendars.ts";
import { KeptChannels } from "./channels/kept.ts";
import { ChannelRegistry } from "./channels/registry.ts";
import { ConfigStore } from "./config/store.ts";
import { lockDataFolder } from "./data-lock.ts";
import { Commands } from "./devices/commands.ts";
import { DeviceImages } from "./devices/images.ts";
import { LivePictures } from "./devices/live-pictures.ts";
import { DeviceRegistry } from "./devices/registry.ts";
import { SensorHistory } from "./devices/sensor-history.ts";
import { Connectables } from "./discovery/connectable.ts";
import { Discovery } from "./discovery/discovery.ts";
import { setAsideMisplacedFiles } from "./documents/misplaced-files.ts";
import { finishReplacement } from "./documents/restore-transaction.ts";
import { Bus } from "./events/bus.ts";
import { EventStreams } from "./events/sse.ts";
import { openDataFolder, openPluginFolder } from "./folders.ts";
import { HomeFeeds } from "./home/feeds.ts";
import { notify } from "./home/notifications.ts";
import { createApp } from "./http/app.ts";
import { ServerCertificate } from "./http/certificate.ts";
import { ConnectionLimit } from "./http/connection-limit.ts";
import { Proxies } from "./http/forwarded.ts";
import { networkAddress } from "./http/network-address.ts";
import { isLoopback } from "./http/network.ts";
import { HttpServer } from "./http/server.ts";
import { Languages } from "./languages/languages.ts";
import { LayoutStore } from "./layout/store.ts";
import type { HostLog } from "./log.ts";
import { MachineServices } from "./machine/services.ts";
import { Compiler } from "./modules/build/compile.ts";
import { Consents } from "./modules/consent/consents.ts";
import { ModuleManager } from "./modules/manager.ts";
import { readShipped } from "./modules/manifest/shipped.ts";
import { BridgeTable } from "./modules/module-bridge.ts";
import { killProcessesOfEarlierHosts } from "./modules/process/leftover-processes.ts";
import { Kernel } from "./modules/process/sandbox/kernel.ts";
import { WarmProcessPool } from "./modules/process/warm-process.ts";
import { SourceFolders } from "./modules/sources/source-folders.ts";
import { VersionStore } from "./modules/versions/version-store.ts";
import { Publisher } from "./mqtt/publish.ts";
import { PackageLock } from "./packages/lock.ts";
import { type RunningHostDependencies, openHostPackages } from "./packages/open-packages.ts";
import { packageFolders } from "./packages/package-folders.ts";
import { Places } from "./places/places.ts";
import { ApiPaths } from "./routes/api-paths.ts";
import { RouteSecrets } from "./routes/secrets.ts";
import { SceneRegistry } from "./scenes/registry.ts";
import { Scheduler } from "./schedule/scheduler.ts";
import { ServiceRegistry } from "./services/registry.ts";

/**
 * The deadline for answers in flight. It leaves the modules time to hand over their state within the ten seconds of
 * a stop.
 */
const ANSWERS_DEADLINE_MS = 6_000;
const WAITING_LOG_EVERY_MS = 3_000;

export interface HostOptions {
  readonly version: string;
  readonly address: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
  /** Debugger ports by module id; they override those in the config. */
  readonly inspect: ReadonlyMap<string, number>;
  /** If true, a plugin that asks for more permissions needs no consent, because its author has saved it. */
  readonly consentOnSave?: boolean;
  /** The folder of the shipped layouts. */
  readonly layoutFolder: string;
  /** The folder of the shipped plugins, with `shipped.json`, which lists their ids. */
  readonly shippedFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: HostLog;
  /** Called if a restart is requested: closes this host and starts another one. */
  readonly restart: () => void;
}

/** A running host. */
export interface Host {
  /** Its address, such as `http://127.0.0.1:8470`. */
  readonly url: string;
  /** The address by which other devices reach it; `undefined` if it listens on loopback only. */
  readonly networkAddress: string | undefined;
  /** The public address of its health check. */
  readonly healthUrl: string;
  readonly tokens: Tokens;
  /** Resolves when every module has started or failed. */
  readonly settled: Promise<void>;
  /** Finishes answers in flight, then stops all modules. */
  close(): Promise<void>;
}

/** Builds every part in order. HTTP answers before the modules start, and from then on. */
export async function startHost(options: HostOptions): Promise<Host> {
  const scope = new DisposeScope();
  try {
    return await build(options, scope);
  } catch (error) {
    await scope.dispose();
    throw error;
  }
}

async function build(options: HostOptions, scope: DisposeScope): Promise<Host> {
  const startedAt = performance.now();
  const foundation = await openFoundation(options, scope);
  const registries = await openRegistries(foundation, scope);
  const opened = await openModules(options, { ...foundation, ...registries }, scope);
  const { modules, connectables } = opened;
  const { log, version } = options;
  const installed = await openHostPackages({ ...foundation, ...opened, version });
  scope.onDispose(() => installed.close());
  const languages = await Languages.open({
    ...foundation,
    pluginFolders: () => modules.folders(),
  });
  const streams = new EventStreams(foundation.bus);
  const pairings = new Pairings();
  const backups = new Backups(foundation.dataFolder, version);
  scope.onDispose(() => backups.close());
  const { address: host, port } = options;
  const app = createApp({
    ...foundation,
    ...registries,
    log,
    version,
    startedAt,
    modules,
    connectables,
    installed,
    languages,
    streams,
    backups,
    pairings,
    restart: options.restart,
    address: () => networkAddress({ url: server.url, host }),
  });
  const certificate = openCertificate(foundation);
  const limit = openConnectionLimit(foundation);
  const server = await HttpServer.listen({ app, host, port, certificate, limit });
  scope.onDispose(async () => {
    streams.close();
    registries.livePictures.close();
    await server.close(ANSWERS_DEADLINE_MS);
  });

  const settled = modules.start();
  void settled.then(async () => {
    const enabled = modules.list().filter(({ state }) => state !== "disabled");
    registries.keptChannels.keepOnly(new Set(enabled.map(({ id }) => id)));
    await endBuildService(); // esbuild holds 100 MiB after a start, and the next build comes with a save
    // The modules start first. Until the dashboard is built, requests for it wait.
    await registries.assets
      .openShell()
      .catch((error: unknown) => log.error("could not build the dashboard", { error }));
  });
  logWaitingModules(settled, modules, log);
  return {
    url: server.url,
    networkAddress: networkAddress({ url: server.url, host }),
    healthUrl: `${server.url}${foundation.config.current.api.prefix}/health`,
    tokens: foundation.tokens,
    settled,
    async close() {
      for (const error of await scope.dispose())
        log.error("could not stop a part of the host", { error });
    },
  };
}

/** Opens what is on disk: config, tokens, layout; and finds out what the kernel offers. */
async function openFoundation(
  { log, environment, ...options }: HostOptions,
  { onDispose }: DisposeScope,
) {
  const dataFolder = await openDataFolder(options.dataFolder);
  onDispose(await lockDataFolder(dataFolder));
  const orphans = killProcessesOfEarlierHosts(dataFolder);
  if (orphans > 0) log.warn("killed processes left over from a previous host", { orphans });
  await finishReplacement(dataFolder, log);
  await setAsideMisplacedFiles(dataFolder, log);
  const cacheFolder = join(dataFolder, "cache");
  const kernel = openKernel(cacheFolder, log); // awaited later, because it starts a process
  kernel.catch(() => undefined); // if a later step fails first, nothing awaits it
  await sweepTemporaryFiles(dataFolder);
  const bus = new Bus();
  const config = await ConfigStore.open({ dataFolder, environment, log });
  onDispose(() => config.close());
  followConfig(config, bus, log);
  const tokens = await Tokens.open({ dataFolder, log });
  const lastUse = await LastUse.open(dataFolder, log);
  onDispose(() => lastUse.close());
  const audit = new Audit(dataFolder);
  onDispose(() => audit.close());
  const shippedFolder = options.layoutFolder;
  const layout = await LayoutStore.open({ dataFolder, shippedFolder, log, bus });
  const feedAddresses = await FeedAddresses.open(dataFolder, log);
  const routeSecrets = await RouteSecrets.open(dataFolder, log);
  const documents = { config, tokens, lastUse, audit, layout, feedAddresses, routeSecrets };
  return { dataFolder, cacheFolder, kernel, bus, ...documents, log };
}

function openCertificate({ config, dataFolder, log }: Foundation): ServerCertificate | undefined {
  const { tls } = config.current.server;
  if (!tls) return undefined;
  const [cert, key] = [resolve(dataFolder, tls.cert), resolve(dataFolder, tls.key)];
  return new ServerCertificate({ cert, key }, log);
}

/** Connections from this machine are limited only if its requests are; a proxy has many clients. */
function openConnectionLimit({ config, log }: Foundation): ConnectionLimit {
  const proxies = new Proxies(() => config.current.server.proxies);
  const isOwn = (address: string) =>
    !config.current.server.rateLimit.loopback && isLoopback(address);
  return new ConnectionLimit((address) => isOwn(address) || proxies.includes(address), log);
}

type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** The registries that answer reads. */
async function openRegistries(foundation: Foundation, { onDispose }: DisposeScope) {
  const { bus, config, audit, log } = foundation;
  const bridges = new BridgeTable();
  const services = new ServiceRegistry();
  const machine = new MachineServices();
  onDispose(() => machine.close());
  services.claim(machine);
  const devices = await DeviceRegistry.open({ ...foundation, bridges });
  const readings = await SensorHistory.open(foundation);
  onDispose(() => readings.close());
  const commands = new Commands({ bus, devices, bridges, log });
  const images = new DeviceImages({ devices, bridges });
  onDispose(() => images.close());
  const livePictures = new LivePictures({ devices, bridges });
  const scenes = await SceneRegistry.open({ ...foundation, devices, bridges, commands });
  const call = (service: ServiceDefinition, input: unknown, deadlineMs: number) =>
    services.call(serviceKey(service), input, deadlineMs);
  const { calendar, calendarActions } = openCalendars({ bus, config, services });
  services.merge(serviceKey(homeNotify), (input: unknown, cause) =>
    notify({ bus, services }, input, cause),
  );
  const calendarFeed = new CalendarFeed();
  const apiPaths = new ApiPaths();
  const channels = new ChannelRegistry({ bus, paths: apiPaths });
  onDispose(() => channels.close());
  const keptChannels = await KeptChannels.open({ ...foundation, channels });
  onDispose(() => keptChannels.close());
  const places = new Places();
  onDispose(() => places.close());
  const publisher = new Publisher({ config, call, log, audit });
  const { cacheFolder } = foundation;
  const assets = new Assets({ log, cacheFolder });
  const answering = {
    devices,
    images,
    livePictures,
    readings,
    commands,
    scenes,
    channels,
    apiPaths,
  };
  const shown = { places, calendar, calendarActions, calendarFeed };
  return { bridges, services, ...answering, ...shown, keptChannels, publisher, assets };
}

type Registries = Awaited<ReturnType<typeof openRegistries>>;

async function openModules(
  { pluginFolders, shippedFolder, inspect, consentOnSave = false }: HostOptions,
  parts: Foundation & Registries,
  { onDispose }: DisposeScope,
): Promise<HostModules> {
  const { calendar, calendarFeed, cacheFolder, dataFolder, bus } = parts;
  const feeds = new HomeFeeds(bus);
  onDispose(() => feeds.close());
  const timeZone = () => parts.config.current.ui.timeZone;
  const discovery = new Discovery();
  onDispose(() => discovery.close());
  const sourceFolders = new SourceFolders(parts);
  onDispose(() => sourceFolders.close());
  const scheduler = await Scheduler.open({ ...parts, timeZone });
  onDispose(() => scheduler.close());
  const lock = await PackageLock.open(dataFolder, parts.log);
  const asksFirst = (id: string) => lock.find(id) !== undefined;
  const consents = await Consents.open({ ...parts, onSave: consentOnSave, asksFirst });
  onDispose(() => consents.close());
  const roots = await Promise.all(pluginFolders.map(openPluginFolder));
  const kernel = await parts.kernel;
  onDispose(() => kernel.close());
  const warmProcesses = new WarmProcessPool(kernel);
  onDispose(() => warmProcesses.close());
  onDispose(new IdleCollector(() => warmProcesses.reloads > 0).start());
  const { config } = parts;
  const compiler = new Compiler(cacheFolder, (id) => config.current.modules[id]?.links === true);
  onDispose(() => compiler.close());
  const versionStore = new VersionStore(cacheFolder);
  const shipped = await readShipped(shippedFolder);
  const modules = new ModuleManager({
    routePrefix: config.current.api.prefix, // another one applies from the next start on, as in the API
    ...parts,
    scheduler,
    discovery,
    sourceFolders,
    home: { ...parts, feeds, coordinates: () => coordinatesIn(config) },
    consents,
    inspect,
    kernel,
    warmProcesses,
    compiler,
    roots,
    versionStore,
    ...shipped,
    packageFolders: () => packageFolders(dataFolder, lock),
    publications: {
      "calendar.window": {
        accept: (window, module) => {
          calendar.accept(window, module);
          calendarFeed.accept(calendar.published);
        },
        gone: (module) => {
          calendar.providerGone(module);
          calendarFeed.accept(calendar.published);
        },
      },
    },
  });
  onDispose(() => modules.close());
  const connectables = new Connectables({
    unconnected: () => modules.unconnected(),
    search: (plugin, what) =>
      discovery.mdns({ plugin, what, forMs: undefined, exited: new Promise(() => undefined) }),
  });
  const { isShippedId } = shipped;
  return { modules, lock, consents, versionStore, isShippedId, connectables };
}

/** The modules, and what the installed packages share with them. */
interface HostModules extends Pick<
  RunningHostDependencies,
  "lock" | "consents" | "versionStore" | "isShippedId"
> {
  readonly modules: ModuleManager;
  readonly connectables: Connectables;
}

function coordinatesIn({ current: { home } }: ConfigStore): Coordinates | undefined {
  const { latitude, longitude, place } = home;
  if (latitude === undefined || longitude === undefined) return undefined;
  return { latitude, longitude, ...(place !== undefined && { name: place }) };
}

async function openKernel(cacheFolder: string, log: HostLog): Promise<Kernel> {
  const kernel = await Kernel.open(cacheFolder);
  const { reason, remedy } = kernel;
  if (reason !== null) log.warn("the kernel does not confine plugins", { reason, remedy });
  return kernel;
}

function followConfig(config: ConfigStore, bus: Bus, log: HostLog): void {
  log.setLevel(config.current.log.level);
  config.onChange((changed) => {
    if (changed.includes("log.level")) log.setLevel(config.current.log.level);
    bus.emit("config.changed", { changed, revision: config.revision });
  });
}

/** Logs which modules a slow start waits for. */
function logWaitingModules(settled: Promise<void>, modules: ModuleManager, log: HostLog): void {
  const ticking = setInterval(() => {
    const loading = modules.list().filter(({ state }) => state === "loading");
    log.info("the start is waiting for modules", { modules: loading.map(({ id }) => id) });
  }, WAITING_LOG_EVERY_MS);
  const stop = () => clearInterval(ticking);
  void settled.then(stop, stop);
}
