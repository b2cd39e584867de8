import { constants } from "node:fs";
import { access, chmod, mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { Assets } from "./assets/assets.ts";
import { Audit } from "./auth/audit.ts";
import { Tokens } from "./auth/tokens.ts";
import { Calendar } from "./calendar/calendar.ts";
import { ConfigStore } from "./config/store.ts";
import { Commands } from "./devices/commands.ts";
import { DeviceRegistry } from "./devices/registry.ts";
import { Bus } from "./events/bus.ts";
import { FanOut } from "./events/fan-out.ts";
import { createApp } from "./http/app.ts";
import { HttpServer } from "./http/server.ts";
import { LayoutStore } from "./layout/store.ts";
import type { HostLog } from "./log.ts";
import { Compiler } from "./modules/compile.ts";
import { BridgeTable } from "./modules/module-bridge.ts";
import { ModuleRegistry } from "./modules/registry.ts";
import { compileRuntime } from "./modules/runtime.ts";
import { Spare } from "./modules/spare.ts";
import { Publisher } from "./mqtt/publish.ts";
import { SceneRegistry } from "./scenes/registry.ts";
import { ServiceRegistry } from "./services/registry.ts";
import { Samples } from "./system/samples.ts";

const ANSWERS_DEADLINE_MS = 4_000;
const CALENDAR_DEADLINE_MS = 10_000;

export interface HostOptions {
  readonly version: string;
  readonly address: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
  /** The layouts that ship. */
  readonly layoutFolder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: HostLog;
}

/** A running host. */
export interface Host {
  /** Where it answers, such as `http://127.0.0.1:8470`. */
  readonly url: string;
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
  const { log, environment, version } = options;
  const dataFolder = await openDataFolder(options.dataFolder);
  const roots = await Promise.all(options.pluginFolders.map(openPluginFolder));
  const cacheFolder = join(dataFolder, "cache");
  const { onDispose } = scope;

  const bus = new Bus();
  const config = await ConfigStore.open({ dataFolder, environment, log });
  onDispose(() => config.close());
  followConfig(config, bus, log);
  const tokens = await Tokens.open({ dataFolder, log });
  const audit = new Audit(dataFolder);
  const layout = await LayoutStore.open({
    dataFolder,
    shippedFolder: options.layoutFolder,
    log,
    bus,
  });

  const bridges = new BridgeTable();
  const services = new ServiceRegistry();
  const devices = await DeviceRegistry.open({ dataFolder, bus, bridges, log });
  const commands = new Commands({ devices, bridges, log });
  const scenes = await SceneRegistry.open({ dataFolder, bus, devices, bridges, commands, log });
  const call = (name: string, deadlineMs: number) => (input: unknown) =>
    services.call(name, input, deadlineMs);
  const calendar = new Calendar({
    bus,
    config,
    call: (query) => call("calendar.events", CALENDAR_DEADLINE_MS)(query) as Promise<CalendarWindow>,
  });
  const samples = new Samples({ bus });
  const publisher = new Publisher({
    config,
    call: (name, input, deadlineMs) => services.call(name, input, deadlineMs),
    log,
    audit,
  });

  const assets = new Assets({ log });
  const spare = new Spare(await compileRuntime(cacheFolder));
  onDispose(() => spare.close());
  const compiler = new Compiler(cacheFolder);
  onDispose(() => compiler.close());
  const modules = new ModuleRegistry({
    ...{ bus, config, log, devices, scenes, services, bridges, spare, compiler, assets },
    ...{ dataFolder, cacheFolder, roots },
    publications: {
      "calendar.window": (window) => calendar.accept(window),
      "system.sample": (sample) => samples.accept(sample),
    },
  });
  onDispose(() => modules.close());

  const streams = new FanOut(bus);
  const app = await createApp({
    ...{ version, log, audit, tokens, config, layout, devices, commands, scenes },
    ...{ publisher, modules, calendar, samples, streams, assets },
  });
  const server = await HttpServer.listen({ app, host: options.address, port: options.port });
  onDispose(async () => {
    streams.close();
    await server.close(ANSWERS_DEADLINE_MS);
  });

  await assets.openShell();
  const settled = modules.start();
  return {
    url: server.url,
    tokens,
    settled,
    async close() {
      for (const error of await scope.dispose()) log.error("a part did not close", { error });
    },
  };
}

function followConfig(config: ConfigStore, bus: Bus, log: HostLog): void {
  log.setLevel(config.current.log.level);
  config.onChange((changed) => {
    if (changed.includes("log.level")) log.setLevel(config.current.log.level);
    bus.announce("config.changed", { changed, revision: config.revision });
  });
}

/** @throws MantelError `invalid`, with what to do, when the folder cannot be used */
async function openDataFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    await chmod(folder, 0o700);
    return await realpath(folder);
  } catch (error) {
    throw new MantelError(
      "invalid",
      `the data folder ${folder} cannot be used (${(error as Error).message}); name another one with --data`,
      { cause: error },
    );
  }
}

async function openPluginFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await access(folder, constants.R_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    throw new MantelError(
      "invalid",
      `the plugin folder ${folder} cannot be read (${(error as Error).message}); see --plugins`,
      { cause: error },
    );
  }
}
