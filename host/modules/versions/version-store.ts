import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ValueOf } from "@mantel/plugin-sdk/schema";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { type Static, type TSchema, Type } from "typebox";
import { faultsOf } from "../../validate.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { Build, History, OptionsSection, Version, WidgetBundle } from "./version.ts";

const SERVER = "last-good.json";
const WIDGET = "last-good-widget.json";
const HISTORY = "earlier.json";

const Instant = Type.String({ format: "date-time" });
const Plugin = Type.Object({
  id: Type.String(),
  folder: Type.String(),
  version: Type.String(),
  manifest: Manifest,
});
const StoredServer = Type.Object({
  plugin: Plugin,
  section: Type.Record(Type.String(), Type.Unknown()),
  hash: Type.String(),
  bundle: Type.String(),
  vendor: Type.Optional(Type.String()),
  sources: Type.Optional(Type.String()),
});
type StoredServer = Static<typeof StoredServer>;
const StoredWidget = Type.Object({
  plugin: Plugin,
  hash: Type.String(),
  code: Type.String(),
  map: Type.String(),
});
type StoredWidget = Static<typeof StoredWidget>;
const StoredHistory = Type.Object({
  version: Type.Optional(
    Type.Object({
      until: Instant,
      server: Type.Optional(StoredServer),
      widget: Type.Optional(StoredWidget),
    }),
  ),
  left: Type.Optional(
    Type.Object({
      plugin: Plugin,
      server: Type.Optional(Type.String()),
      widget: Type.Optional(Type.String()),
      at: Instant,
    }),
  ),
});

/**
 * The last good version of each plugin and the one before it, beside its bundles in the cache, so that
 * they survive a restart. A full disk does not stop a working version; the module's
 * log reports it.
 */
export class VersionStore {
  readonly #folder: string;
  readonly #cacheFolder: string;
  /** The writes of each plugin: the last record has to be the one that stays. */
  readonly #queues = new Map<string, SerialQueue>();

  constructor(cacheFolder: string) {
    this.#cacheFolder = cacheFolder;
    this.#folder = join(cacheFolder, "modules");
  }

  /** Stores a build that works, with its config; `section` has no secrets. */
  async storeServer(build: Build, section: OptionsSection, log: ModuleLog): Promise<void> {
    await this.#write(build.plugin.id, [SERVER, serverRecord({ ...build, section })], log);
  }

  /** The last good server side of this plugin; `undefined` if its files no longer exist. */
  async server(id: string): Promise<Build | undefined> {
    return this.#toBuild(await this.#read(id, SERVER, StoredServer));
  }

  async storeWidget(plugin: PluginPackage, bundle: WidgetBundle, log: ModuleLog): Promise<void> {
    await this.#write(plugin.id, [WIDGET, widgetRecord(plugin, bundle)], log);
  }

  /** The last good widget of this plugin. */
  async widget(id: string): Promise<WidgetBundle | undefined> {
    return toWidget(await this.#read(id, WIDGET, StoredWidget));
  }

  /** The last good version of this plugin; `undefined` if the files of a side no longer exist. */
  async version(id: string): Promise<Version | undefined> {
    const server = await this.#read(id, SERVER, StoredServer);
    return this.#toVersion(server, await this.#read(id, WIDGET, StoredWidget));
  }

  /** Stores the version for a rollback, and the version that was rolled back. */
  async storeHistory(id: string, { previous, rolledBack }: History, log: ModuleLog): Promise<void> {
    const { plugin, server, widget, until } = previous ?? {};
    const version = plugin && {
      until,
      server: server && serverRecord(server),
      widget: widget && widgetRecord(plugin, widget),
    };
    await this.#write(id, [HISTORY, { version, left: rolledBack }], log);
  }

  async history(id: string): Promise<History> {
    const { version, left } = (await this.#read(id, HISTORY, StoredHistory)) ?? {};
    const previous = version && this.#toVersion(version.server, version.widget);
    return { previous: previous && { ...previous, until: version.until }, rolledBack: left };
  }

  /** The bundles of packages that these versions need, including those of disabled and missing plugins. */
  async vendors(): Promise<string[]> {
    const ids = await readdir(this.#folder).catch(() => []);
    const goods = await Promise.all(ids.map((id) => this.server(id)));
    const histories = await Promise.all(ids.map((id) => this.history(id)));
    const builds = [...goods, ...histories.map(({ previous }) => previous?.server)];
    return builds.flatMap((build) => build?.vendor ?? []);
  }

  /** The last good plugin in this folder, for a folder whose manifest cannot be read. */
  async pluginIn(folder: string): Promise<PluginPackage | undefined> {
    return (await this.plugins()).find((plugin) => plugin.folder === folder);
  }

  /** The last good version of each plugin, without its code. */
  async plugins(): Promise<PluginPackage[]> {
    const plugins: PluginPackage[] = [];
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const server = await this.server(id);
      const { plugin } = server ?? (await this.#read(id, WIDGET, StoredWidget)) ?? {};
      if (plugin) plugins.push(plugin);
    }
    return plugins;
  }

  /** Deletes all versions of a plugin that was removed, and its compiled code. */
  async forget(id: string): Promise<void> {
    const queue = this.#queues.get(id) ?? new SerialQueue();
    this.#queues.set(id, queue);
    const remove = (...path: string[]) =>
      rm(join(this.#cacheFolder, ...path), { recursive: true, force: true });
    await queue.take(async () => {
      await remove("modules", id);
      await remove("compiled", id);
      for (const side of ["server", "widget"]) await remove("built", `${side}-${id}.json`);
    });
  }

  /** Deletes the versions of all plugins for which `isPresent` is false; it gets their ids and folders. */
  async forgetRemoved(isPresent: (id: string, folder: string) => boolean): Promise<void> {
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const server = await this.#read(id, SERVER, StoredServer);
      const { plugin } = server ?? (await this.#read(id, WIDGET, StoredWidget)) ?? {};
      if (!isPresent(id, plugin?.folder ?? "")) await this.forget(id);
    }
  }

  async #write(id: string, [file, record]: [string, object], log: ModuleLog): Promise<void> {
    const queue = this.#queues.get(id) ?? new SerialQueue();
    this.#queues.set(id, queue);
    const folder = join(this.#folder, id);
    try {
      await queue.take(async () => {
        await mkdir(folder, { recursive: true });
        await writeDurably(join(folder, file), JSON.stringify(record));
      });
    } catch (error) {
      const fields = { reason: (error as Error).message };
      log.record({ level: "warn", sentence: "could not store the code for a rollback", fields });
    }
  }

  /** Reads a record; a damaged one counts as missing. */
  async #read<S extends TSchema>(
    id: string,
    file: string,
    schema: S,
  ): Promise<ValueOf<S> | undefined> {
    const text = await readFile(join(this.#folder, id, file), "utf8").catch(() => "null");
    try {
      const value = JSON.parse(text) as unknown;
      return faultsOf(schema, value).length === 0 ? (value as ValueOf<S>) : undefined;
    } catch {
      return undefined;
    }
  }

  /** `undefined` if one of its files is missing, or is in another data folder, which this one is a copy of. */
  #toBuild(stored: StoredServer | undefined): Build | undefined {
    if (!stored || !existsSync(stored.bundle)) return undefined;
    if (dirname(stored.bundle) !== join(this.#folder, stored.plugin.id)) return undefined;
    if (stored.vendor !== undefined && !existsSync(stored.vendor)) return undefined;
    const { vendor, ...rest } = stored;
    return { ...rest, vendor, inputs: new Set() };
  }

  /** The sides that the manifest has; stored ones of other sides belong to an older manifest. */
  #toVersion(
    storedServer: StoredServer | undefined,
    storedWidget: StoredWidget | undefined,
  ): Version | undefined {
    const plugin = storedServer?.plugin ?? storedWidget?.plugin;
    if (!plugin) return undefined;
    const has = (side: "server" | "widget") => plugin.manifest[side] !== undefined;
    const server = has("server") ? this.#toBuild(storedServer) : undefined;
    const widget = has("widget") ? toWidget(storedWidget) : undefined;
    const isWhole = has("server") === !!server && has("widget") === !!widget;
    return isWhole ? { plugin, server, widget } : undefined;
  }
}

function serverRecord({ plugin, section = {}, hash, bundle, vendor, sources }: Build): object {
  return { plugin, section, hash, bundle, vendor, sources };
}

function widgetRecord(plugin: PluginPackage, { hash, code, map }: WidgetBundle): object {
  return { plugin, hash, code, map };
}

function toWidget(stored: StoredWidget | undefined): WidgetBundle | undefined {
  return stored && { hash: stored.hash, code: stored.code, map: stored.map, inputs: [] };
}
