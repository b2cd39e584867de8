import { type OutgoingHttpHeaders, request } from "node:http";
import type { TestContext } from "node:test";
import type { DeviceCommand } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleView, ReloadResult } from "../../../host/api/module.ts";
import { Audit } from "../../../host/auth/audit.ts";
import { LastUse } from "../../../host/auth/last-use.ts";
import { Pairings } from "../../../host/auth/pairings.ts";
import type { Scope } from "../../../host/auth/scopes.ts";
import { Tokens } from "../../../host/auth/tokens.ts";
import { Backups } from "../../../host/backup/backups.ts";
import { CalendarActions } from "../../../host/calendar/actions.ts";
import { Calendar } from "../../../host/calendar/calendar.ts";
import { FeedAddresses } from "../../../host/calendar/feed-addresses.ts";
import { CalendarFeed } from "../../../host/calendar/feed.ts";
import { ChannelRegistry } from "../../../host/channels/registry.ts";
import { ConfigStore } from "../../../host/config/store.ts";
import type { Bridge } from "../../../host/devices/bridge.ts";
import { Commands } from "../../../host/devices/commands.ts";
import { DeviceImages } from "../../../host/devices/images.ts";
import { LivePictures } from "../../../host/devices/live-pictures.ts";
import { DeviceRegistry } from "../../../host/devices/registry.ts";
import { SensorHistory } from "../../../host/devices/sensor-history.ts";
import { Connectables } from "../../../host/discovery/connectable.ts";
import { Bus } from "../../../host/events/bus.ts";
import { EventStreams } from "../../../host/events/sse.ts";
import { createApp } from "../../../host/http/app.ts";
import type { AssetsDependency, HttpDependencies } from "../../../host/http/dependencies.ts";
import { HttpServer } from "../../../host/http/server.ts";
import { Languages } from "../../../host/languages/languages.ts";
import { LayoutStore } from "../../../host/layout/store.ts";
import type { ModuleManager } from "../../../host/modules/manager.ts";
import { Publisher } from "../../../host/mqtt/publish.ts";
import { Operations } from "../../../host/packages/operations.ts";
import { Places } from "../../../host/places/places.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";
import { RouteSecrets } from "../../../host/routes/secrets.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { ServiceRegistry } from "../../../host/services/registry.ts";
import { type CollectedLog, collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

type Public<T> = Pick<T, keyof T>;

/** Parts of which a test uses only some members. */
type Overrides = {
  readonly [P in Exclude<keyof HttpDependencies, Plain>]?: Partial<Public<HttpDependencies[P]>>;
} & Partial<Pick<HttpDependencies, Plain>>;

type Plain = "address" | "restart" | "startedAt" | "version";

export interface ServedApp {
  readonly url: string;
  readonly parts: HttpDependencies;
  readonly devices: DeviceRegistry;
  readonly bus: Bus;
  readonly tokens: Tokens;
  readonly config: ConfigStore;
  readonly data: string;
  readonly server: HttpServer;
  readonly log: CollectedLog;
  /** The commands that the bridge received, in order. */
  readonly commands: readonly DeviceCommand[];
  readonly token: (scope: Scope) => Promise<string>;
  /** Requests `/api/v1<path>` with a token of this scope; `null` sends none. */
  readonly api: (scope: Scope | null, path: string, init?: RequestInit) => Promise<Response>;
}

/**
 * The API on a free port over the host's real parts, with one bridge and one module that live in
 * memory: a lamp `demo:light:1`, and the module `demo`.
 */
export async function serveApp(t: TestContext, overrides: Overrides = {}): Promise<ServedApp> {
  const data = await emptyFolder(t);
  const log = collectedLog();
  const bus = new Bus();
  const config = await ConfigStore.open({ dataFolder: data, environment: {}, log });
  const tokens = await Tokens.open({ dataFolder: data, log });
  const lastUse = await LastUse.open(data, log);
  const commands: DeviceCommand[] = [];
  const registries = await openRegistries({ data, bus, log, commands });
  const apiPaths = new ApiPaths();
  const streams = new EventStreams(bus);
  const parts: HttpDependencies = {
    ...registries,
    version: "0.0.0",
    startedAt: performance.now(),
    address: () => undefined,
    log,
    tokens,
    config,
    streams,
    channels: new ChannelRegistry({ bus, paths: apiPaths }),
    apiPaths,
    audit: new Audit(data),
    lastUse,
    pairings: new Pairings(),
    layout: await LayoutStore.open({ dataFolder: data, shippedFolder: "layouts", log, bus }),
    calendar: new Calendar({ bus, config, call: () => Promise.reject(nothing()) }),
    calendarActions: new CalendarActions({
      calendar: new Calendar({ bus, config, call: () => Promise.reject(nothing()) }),
      call: () => Promise.reject(nothing()),
      provides: () => false,
    }),
    calendarFeed: new CalendarFeed(),
    feedAddresses: await FeedAddresses.open(data, log),
    publisher: new Publisher({
      config,
      log,
      call: () => Promise.resolve(),
      audit: new Audit(data),
    }),
    services: new ServiceRegistry(),
    routeSecrets: await RouteSecrets.open(data, log),
    languages: await Languages.open({ dataFolder: data, log, pluginFolders: () => new Map() }),
    places: new Places(async () => "\n"),
    connectables: new Connectables({ unconnected: () => [], search: async () => [] }),
    modules: demoModules() as unknown as ModuleManager,
    installed: noPlugins() as unknown as HttpDependencies["installed"],
    assets: demoAssets(),
    backups: new Backups(data, "0.0.0"),
    restart: () => undefined,
    ...(overrides as Partial<HttpDependencies>),
  };
  const server = await HttpServer.listen({ app: createApp(parts), host: "127.0.0.1", port: 0 });
  t.after(async () => {
    streams.close();
    await server.close(1_000);
    await lastUse.close();
    await registries.readings.close();
    await config.close();
  });

  const issued = new Map<Scope, string>();
  const token = async (scope: Scope) => {
    const known =
      issued.get(scope) ?? (await tokens.issue({ name: scope, scope: [scope], ttlSeconds: 60 }));
    issued.set(scope, known);
    return known;
  };
  return {
    url: server.url,
    parts,
    devices: registries.devices,
    bus,
    tokens,
    config,
    data,
    server,
    log,
    commands,
    token,
    async api(scope, path, init = {}) {
      const headers = new Headers(init.headers);
      if (scope) headers.set("authorization", `Bearer ${await token(scope)}`);
      return fetch(`${server.url}/api/v1${path}`, { ...init, headers });
    },
  };
}

/** A request with a JSON body. */
export function json(
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** Requests a target as it stands, which `fetch` would tidy up, and gives the status. */
export function rawStatus(
  url: string,
  target: string,
  headers: OutgoingHttpHeaders,
): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: target, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

interface RegistryOptions {
  readonly data: string;
  readonly bus: Bus;
  readonly log: CollectedLog;
  readonly commands: DeviceCommand[];
}

async function openRegistries({ data, bus, log, commands: told }: RegistryOptions) {
  const bridge: Bridge = {
    view: { id: "demo", kind: "demo", name: "Demo", status: "ok", reason: null },
    isComingBack: false,
    ready: () => undefined,
    limits: { commandsPerSecond: 100, burst: 100, confirmMs: 1_000 },
    command: async (_, command) => void told.push(command),
    activateScene: () => Promise.resolve(),
    image: async () => null,
    nextFrame: async () => null,
    video: async () => "",
  };
  const bridges = {
    find: (id: string) => (id === "demo" ? bridge : undefined),
    list: () => [bridge],
  };
  const devices = await DeviceRegistry.open({ dataFolder: data, bus, bridges, log });
  const readings = await SensorHistory.open({ dataFolder: data, bus, log });
  const commands = new Commands({ bus, devices, bridges, log });
  const images = new DeviceImages({ devices, bridges });
  const livePictures = new LivePictures({ devices, bridges });
  const parts = { dataFolder: data, bus, devices, bridges, commands, log };
  const scenes = await SceneRegistry.open(parts);
  await devices.publish("demo", [
    {
      nativeId: "lamp",
      kind: "light",
      name: "Lamp",
      capabilities: {
        on: { type: "boolean" },
        brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
      },
      state: { on: false, brightness: 50 },
    },
  ]);
  return { devices, images, livePictures, readings, commands, scenes };
}

/** The module `demo`, in memory. */
export function demoModules(): Omit<Public<ModuleManager>, "start" | "close"> {
  const module = { ...DEMO };
  const get = (id: string): ModuleView => {
    if (id === module.id) return module;
    throw new MantelError("module_unknown", `no module has the id ${id}`);
  };
  return {
    revision: 1,
    isSimulated: true,
    folders: () => new Map(),
    async addSource(id) {
      get(id);
    },
    unconnected: () => [],
    translations: (id) => (id === "news" ? { de: { "Its title": "Sein Titel" } } : undefined),
    list: () => [module],
    get,
    reload: async (id) => ({ module: get(id), reload: RELOADED }),
    rollBack: async (id) => ({ module: get(id), reload: { ...RELOADED, result: "rolled_back" } }),
    enable: async (id) => get(id),
    disable: async (id) => get(id),
    allow: async (id) => (get(id), []),
    takeOver: async (id) => ({ module: get(id), reload: RELOADED }),
    trialsOf: (id) => {
      throw new MantelError("invalid", `${get(id).id} has nothing to try out`);
    },
    logs: (id) => (get(id), []),
    widgetFailed: (id) => void get(id),
    settled: () => true,
    routed: () => [],
    isStopped: () => false,
    findStopped: () => undefined,
    counts: () => ({ active: 1, failed: 0 }),
    follow: async () => undefined,
    plugins: () => [],
    running: () => undefined,
    work: () => [{ id: "demo", calls: 3, errors: 1, reloads: 2, drops: 0, logDrops: 7 }],
  };
}

/** No installed plugins; none can be installed. */
function noPlugins() {
  const fail = (id: string): never => {
    throw new MantelError("plugin_unknown", `no plugin ${id} is installed`);
  };
  const unknown = async (id: string): Promise<never> => fail(id);
  const operations = new Operations(() => undefined);
  return {
    plugins: {
      list: async () => [],
      lookUp: async () => ({}),
      get: unknown,
      readme: unknown,
      icon: unknown,
      search: async () => [],
    },
    packages: {
      operations: operations.list,
      install: ({ source }: { source: string }) =>
        operations.run({ action: "install", source, plugin: null }, async (): Promise<never> => {
          throw new MantelError("install_failed", `${source} is not there`);
        }),
      update: fail,
      pin: fail,
      remove: fail,
    },
  };
}

const DEMO: ModuleView = {
  id: "demo",
  name: "Demo",
  version: "1.0.0",
  kinds: ["bridge"],
  adds: {},
  state: "active",
  stateSince: "2026-11-20T09:00:00.000Z",
  generation: 1,
  restingSince: null,
  permissions: {
    hosts: [],
    openNetwork: null,
    listen: false,
    folders: [],
    childProcesses: false,
    workerThreads: false,
    nativeAddons: false,
    sqlite: false,
    home: { read: [], control: [] },
    provides: [],
    uses: [],
    paths: [],
    added: [],
  },
  confinement: { level: "kernel", network: "none", reason: null },
  resources: {
    cpuPercent: 1.5,
    memoryBytes: 20_000_000,
    heapBytes: null,
    loopLagP99Ms: null,
    storageBytes: 4_096,
  },
  limits: {
    memoryMiB: 64,
    storageMiB: 256,
    cpuPercent: 80,
    startMs: 1,
    quiesceMs: 1,
    callMs: 1,
    queueLength: 1,
  },
  restarts: 0,
  earlier: null,
  heldSince: null,
  lastReload: null,
  consent: null,
  progress: null,
  error: null,
  widget: null,
  trials: [],
};

const RELOADED: ReloadResult = {
  result: "reloaded",
  from: 1,
  to: 2,
  durationMs: 20,
  downtimeMs: 3,
  drained: 0,
  stateHandedOver: true,
};

function demoAssets(): AssetsDependency {
  const shell = { body: "<!doctype html>", type: "text/html; charset=utf-8", immutable: false };
  const widget = { body: "define()", type: "text/javascript", immutable: true };
  const files = new Map([
    ["/", shell],
    ["/assets/widgets/demo.0123abcd.js", widget],
  ]);
  return { find: async (path) => files.get(path) };
}

function nothing(): MantelError {
  return new MantelError("service_unavailable", "nothing provides calendars");
}
