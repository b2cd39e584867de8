import { join, resolve } from "node:path";
import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";
import { sweepTemporaryFiles } from "@mantel/plugin-sdk/durable-file";
import { Assets } from "./assets/assets.ts";
import { Audit } from "./auth/audit.ts";
import { LastUse } from "./auth/last-use.ts";
import { Pairings } from "./auth/pairings.ts";
import { Tokens } from "./auth/tokens.ts";
import { Backups } from "./backup/backups.ts";
import { Calendar } from "./calendar/calendar.ts";
import { FeedAddresses } from "./calendar/feed-addresses.ts";
import { CalendarFeed } from "./calendar/feed.ts";
import { ConfigStore } from "./config/store.ts";
import { lockDataFolder } from "./data-lock.ts";
import { Commands } from "./devices/commands.ts";
import { ReadingHistory } from "./devices/history.ts";
import { DeviceRegistry } from "./devices/registry.ts";
import { finishReplacement } from "./documents/replacement.ts";
import { setAsideWrongKinds } from "./documents/wrong-kinds.ts";
import { Bus } from "./events/bus.ts";
import { FanOut } from "./events/fan-out.ts";
import { openDataFolder, openPluginFolder } from "./folders.ts";
import { createApp } from "./http/app.ts";
import { ServerCertificate } from "./http/certificate.ts";
import { ConnectionLimit } from "./http/connection-limit.ts";
import { Proxies } from "./http/forwarded.ts";
import { isLoopback } from "./http/network.ts";
import { HttpServer } from "./http/server.ts";
import { LayoutStore } from "./layout/store.ts";
import type { HostLog } from "./log.ts";
import { Compiler } from "./modules/code/compile.ts";
import { LastGoods } from "./modules/code/last-good.ts";
import { BridgeTable } from "./modules/module-bridge.ts";
import { endOrphans } from "./modules/process/orphans.ts";
import { Spare } from "./modules/process/spare.ts";
import { ModuleRegistry } from "./modules/registry.ts";
import { Publisher } from "./mqtt/publish.ts";
import { Photos } from "./photos/photos.ts";
import { SceneRegistry } from "./scenes/registry.ts";
import { ServiceRegistry } from "./services/registry.ts";
import { tellOfWaiting } from "./settling.ts";
import { Samples } from "./system/samples.ts";
import { Weather } from "./weather/weather.ts";

/** Leaves the modules the time to hand in their state, all of it within the ten seconds of a stop. */
const ANSWERS_DEADLINE_MS = 6_000;
const CALENDAR_DEADLINE_MS = 10_000;

export interface HostOptions {
  readonly version: string;
  readonly address: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
  /** Ports at which debuggers may attach, by module id; they go before those of the config. */
  readonly inspect: ReadonlyMap<string, number>;
  /** The layouts that ship. */
  readonly layoutFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: HostLog;
}

/** A running host. */
export interface Host {
  /** Where it answers, such as `http://127.0.0.1:8470`. */
  readonly url: string;
  /** Where it says how it is, to anybody. */
  readonly healthUrl: string;
  readonly tokens: Tokens;
  /** Resolves when every module has come to rest. */
  readonly settled: Promise<void>;
  /** Answers what is in flight, then ends every module. */
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
  const foundation = await openFoundation(options, scope);
  const house = await openHouse(foundation, scope);
  const modules = await openModules(options, { ...foundation, ...house }, scope);
  const { log, version } = options;
  const streams = new FanOut(foundation.bus);
  const pairings = new Pairings();
  const backups = new Backups(foundation.dataFolder, version);
  const app = createApp({
    ...foundation,
    ...house,
    log,
    version,
    modules,
    streams,
    backups,
    pairings,
  });
  const { address: host, port } = options;
  const certificate = openCertificate(foundation);
  const limit = openConnectionLimit(foundation);
  const server = await HttpServer.listen({ app, host, port, certificate, limit });
  scope.onDispose(async () => {
    streams.close();
    await server.close(ANSWERS_DEADLINE_MS);
  });

  const settled = Promise.all([house.assets.openShell(), modules.start()]).then(() => undefined);
  tellOfWaiting(settled, modules, log);
  return {
    url: server.url,
    healthUrl: `${server.url}${foundation.config.current.api.prefix}/health`,
    tokens: foundation.tokens,
    settled,
    async close() {
      for (const error of await scope.dispose()) log.error("a part did not close", { error });
    },
  };
}

/** What lies on the disk: config, tokens, layout. */
async function openFoundation(
  { log, environment, ...options }: HostOptions,
  { onDispose }: DisposeScope,
) {
  const dataFolder = await openDataFolder(options.dataFolder);
  onDispose(await lockDataFolder(dataFolder));
  const orphans = endOrphans(dataFolder);
  if (orphans > 0) log.warn("processes that an earlier host left behind were ended", { orphans });
  await finishReplacement(dataFolder, log);
  await setAsideWrongKinds(dataFolder, log);
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
  return { dataFolder, bus, config, tokens, lastUse, audit, layout, feedAddresses, log };
}

function openCertificate({ config, dataFolder, log }: Foundation): ServerCertificate | undefined {
  const { tls } = config.current.server;
  if (!tls) return undefined;
  const [cert, key] = [resolve(dataFolder, tls.cert), resolve(dataFolder, tls.key)];
  return new ServerCertificate({ cert, key }, log);
}

/** Programs on this machine are counted where their requests are; a proxy has the clients that it serves. */
function openConnectionLimit({ config, log }: Foundation): ConnectionLimit {
  const proxies = new Proxies(() => config.current.server.proxies);
  const isOwn = (address: string) =>
    !config.current.server.rateLimit.loopback && isLoopback(address);
  return new ConnectionLimit((address) => isOwn(address) || proxies.includes(address), log);
}

type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** The registries from which reads are answered. */
async function openHouse(foundation: Foundation, { onDispose }: DisposeScope) {
  const { bus, config, audit, log } = foundation;
  const bridges = new BridgeTable();
  const services = new ServiceRegistry();
  const devices = await DeviceRegistry.open({ ...foundation, bridges });
  const readings = await ReadingHistory.open(foundation);
  onDispose(() => readings.close());
  const commands = new Commands({ devices, bridges, log });
  const scenes = await SceneRegistry.open({ ...foundation, devices, bridges, commands });
  const call = (name: string, input: unknown, deadlineMs: number): Promise<unknown> =>
    services.call(name, input, deadlineMs);
  const calendar = new Calendar({
    ...{ bus, config },
    call: async (query) =>
      (await call("calendar.events", query, CALENDAR_DEADLINE_MS)) as CalendarWindow,
  });
  const calendarFeed = new CalendarFeed();
  const samples = new Samples({ bus });
  onDispose(() => samples.close());
  const weather = new Weather({ bus });
  const photos = await Photos.open(foundation.dataFolder);
  const publisher = new Publisher({ config, call, log, audit });
  const cacheFolder = join(foundation.dataFolder, "cache");
  const assets = new Assets({ log, cacheFolder });
  const registries = { bridges, services, devices, readings, commands, scenes, samples, weather };
  return { ...registries, photos, calendar, calendarFeed, publisher, assets, cacheFolder };
}

type House = Awaited<ReturnType<typeof openHouse>>;

async function openModules(
  { pluginFolders, inspect }: HostOptions,
  parts: Foundation & House,
  { onDispose }: DisposeScope,
): Promise<ModuleRegistry> {
  const { calendar, calendarFeed, samples, weather, cacheFolder } = parts;
  const roots = await Promise.all(pluginFolders.map(openPluginFolder));
  const spare = new Spare();
  onDispose(() => spare.close());
  const { config } = parts;
  const compiler = new Compiler(cacheFolder, (id) => config.current.modules[id]?.links === true);
  onDispose(() => compiler.close());
  const modules = new ModuleRegistry({
    ...{ ...parts, inspect, spare, compiler, roots },
    lastGoods: new LastGoods(cacheFolder),
    publications: {
      "calendar.window": {
        accept: (window) => {
          calendar.accept(window);
          calendarFeed.accept(window);
        },
        gone: () => {
          calendar.providerGone();
          calendarFeed.providerGone();
        },
      },
      "system.sample": { accept: (sample) => samples.accept(sample), gone: () => samples.gone() },
      "weather.forecast": {
        accept: (forecast) => weather.accept(forecast),
        gone: () => weather.gone(),
      },
    },
  });
  onDispose(() => modules.close());
  return modules;
}

function followConfig(config: ConfigStore, bus: Bus, log: HostLog): void {
  log.setLevel(config.current.log.level);
  config.onChange((changed) => {
    if (changed.includes("log.level")) log.setLevel(config.current.log.level);
    bus.announce("config.changed", { changed, revision: config.revision });
  });
}
