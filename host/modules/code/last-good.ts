import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import { type Static, type TSchema, Type } from "typebox";
import { faultsOf } from "../../validate.ts";
import type { ModuleLog } from "../logs.ts";
import type { Build, Section } from "./build.ts";
import type { PluginPackage } from "./manifest.ts";
import type { Ran, Version, WidgetBundle } from "./version.ts";

type RecordLog = Pick<ModuleLog, "record">;

const SERVER = "last-good.json";
const WIDGET = "last-good-widget.json";
const EARLIER = "earlier.json";

const Instant = Type.String({ format: "date-time" });
const Plugin = Type.Object({
  id: Type.String(),
  folder: Type.String(),
  version: Type.String(),
  manifest: Manifest,
});
const KeptServer = Type.Object({
  plugin: Plugin,
  section: Type.Record(Type.String(), Type.Unknown()),
  hash: Type.String(),
  bundle: Type.String(),
  vendor: Type.Optional(Type.String()),
});
type KeptServer = Static<typeof KeptServer>;
const KeptWidget = Type.Object({
  plugin: Plugin,
  hash: Type.String(),
  code: Type.String(),
  map: Type.String(),
});
type KeptWidget = Static<typeof KeptWidget>;
const KeptRan = Type.Object({
  version: Type.Optional(
    Type.Object({
      until: Instant,
      server: Type.Optional(KeptServer),
      widget: Type.Optional(KeptWidget),
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
 * What each plugin last ran with success, and what before that, beside its bundles in the cache: it
 * outlasts a restart. What works goes on working when the disk has no room to note that; the module's
 * log says so.
 */
export class LastGoods {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, "modules");
  }

  /** Notes a build that works, with what people had set then; secrets are not in `section`. */
  async keep(build: Build, section: Section, log: RecordLog): Promise<void> {
    await this.#write(build.plugin.id, [SERVER, keptServer({ ...build, section })], log);
  }

  /** What the server side of this plugin last ran; `undefined` when that is not there any more. */
  async of(id: string): Promise<Build | undefined> {
    return toBuild(await this.#read(id, SERVER, KeptServer));
  }

  async keepWidget(plugin: PluginPackage, bundle: WidgetBundle, log: RecordLog): Promise<void> {
    await this.#write(plugin.id, [WIDGET, keptWidget(plugin, bundle)], log);
  }

  /** What the widget of this plugin last was. */
  async widgetOf(id: string): Promise<WidgetBundle | undefined> {
    return toWidget(await this.#read(id, WIDGET, KeptWidget));
  }

  /** All that this plugin last ran; `undefined` when a side of that is not there any more. */
  async versionOf(id: string): Promise<Version | undefined> {
    const server = await this.#read(id, SERVER, KeptServer);
    return toVersion(server, await this.#read(id, WIDGET, KeptWidget));
  }

  /** Notes what a plugin can go back to, and what somebody has gone back from. */
  async keepEarlier(id: string, { version, left }: Ran, log: RecordLog): Promise<void> {
    const { plugin, server, widget, until } = version ?? {};
    const kept = plugin && {
      until,
      server: server && keptServer(server),
      widget: widget && keptWidget(plugin, widget),
    };
    await this.#write(id, [EARLIER, { version: kept, left }], log);
  }

  async earlierOf(id: string): Promise<Ran> {
    const { version: kept, left } = (await this.#read(id, EARLIER, KeptRan)) ?? {};
    const version = kept && toVersion(kept.server, kept.widget);
    return { version: version && { ...version, until: kept.until }, left };
  }

  /** The bundles of packages that these need, also those of plugins that are disabled or gone for now. */
  async vendors(): Promise<string[]> {
    const ids = await readdir(this.#folder).catch(() => []);
    const goods = await Promise.all(ids.map((id) => this.of(id)));
    const earlier = await Promise.all(ids.map((id) => this.earlierOf(id)));
    const builds = [...goods, ...earlier.map(({ version }) => version?.server)];
    return builds.flatMap((build) => build?.vendor ?? []);
  }

  /** What the plugin in this folder last was, for a folder whose manifest cannot be read. */
  async pluginIn(folder: string): Promise<PluginPackage | undefined> {
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const server = await this.of(id);
      const { plugin } = server ?? (await this.#read(id, WIDGET, KeptWidget)) ?? {};
      if (plugin?.folder === folder) return plugin;
    }
    return undefined;
  }

  async #write(id: string, [file, kept]: [string, object], log: RecordLog): Promise<void> {
    const folder = join(this.#folder, id);
    try {
      await mkdir(folder, { recursive: true });
      await writeDurably(join(folder, file), JSON.stringify(kept));
    } catch (error) {
      const fields = { reason: (error as Error).message };
      log.record({ level: "warn", sentence: "no code is kept to go back to", fields });
    }
  }

  /** A cache that was damaged is as good as none. */
  async #read<S extends TSchema>(
    id: string,
    file: string,
    schema: S,
  ): Promise<Static<S> | undefined> {
    const text = await readFile(join(this.#folder, id, file), "utf8").catch(() => "null");
    try {
      const value = JSON.parse(text) as unknown;
      return faultsOf(schema, value).length === 0 ? (value as Static<S>) : undefined;
    } catch {
      return undefined;
    }
  }
}

function keptServer({ plugin, section = {}, hash, bundle, vendor }: Build): object {
  return { plugin, section, hash, bundle, vendor };
}

function keptWidget(plugin: PluginPackage, { hash, code, map }: WidgetBundle): object {
  return { plugin, hash, code, map };
}

/** `undefined` when a file of it is gone. */
function toBuild(kept: KeptServer | undefined): Build | undefined {
  if (!kept || !existsSync(kept.bundle)) return undefined;
  if (kept.vendor !== undefined && !existsSync(kept.vendor)) return undefined;
  const { vendor, ...rest } = kept;
  return { ...rest, vendor, inputs: new Set() };
}

function toWidget(kept: KeptWidget | undefined): WidgetBundle | undefined {
  return kept && { hash: kept.hash, code: kept.code, map: kept.map, inputs: [] };
}

/** The sides that the manifest has; what is kept of others is of an older one. */
function toVersion(
  ranServer: KeptServer | undefined,
  ranWidget: KeptWidget | undefined,
): Version | undefined {
  const plugin = ranServer?.plugin ?? ranWidget?.plugin;
  if (!plugin) return undefined;
  const has = (side: "server" | "widget") => plugin.manifest[side] !== undefined;
  const server = has("server") ? toBuild(ranServer) : undefined;
  const widget = has("widget") ? toWidget(ranWidget) : undefined;
  const isWhole = has("server") === !!server && has("widget") === !!widget;
  return isWhole ? { plugin, server, widget } : undefined;
}
