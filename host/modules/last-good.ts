import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import { Type } from "typebox";
import { faultsOf } from "../validate.ts";
import type { Build, Section } from "./build.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import type { WidgetBundle } from "./widget-side.ts";

type Kept = { readonly plugin: PluginPackage } & Readonly<Record<string, unknown>>;
type RecordLog = Pick<ModuleLog, "record">;

const SERVER = "last-good.json";
const WIDGET = "last-good-widget.json";

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
const KeptWidget = Type.Object({
  plugin: Plugin,
  hash: Type.String(),
  code: Type.String(),
  map: Type.String(),
});

/**
 * What each plugin last ran with success, beside its bundles in the cache: it outlasts a restart. What
 * works goes on working when the disk has no room to note that; the module's log says so.
 */
export class LastGoods {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, "modules");
  }

  /** Notes a build that works, with what people had set then; secrets are not in `section`. */
  async keep(
    { plugin, hash, bundle, vendor }: Build,
    section: Section,
    log: RecordLog,
  ): Promise<void> {
    await this.#write(SERVER, { plugin, section, hash, bundle, vendor }, log);
  }

  /** What the server side of this plugin last ran; `undefined` when that is not there any more. */
  async of(id: string): Promise<Build | undefined> {
    const kept = await this.#read(id, SERVER, KeptServer);
    if (!kept || !existsSync(kept.bundle)) return undefined;
    if (kept.vendor !== undefined && !existsSync(kept.vendor)) return undefined;
    const { vendor, ...rest } = kept;
    return { ...rest, vendor, inputs: new Set() };
  }

  async keepWidget(
    plugin: PluginPackage,
    { hash, code, map }: WidgetBundle,
    log: RecordLog,
  ): Promise<void> {
    await this.#write(WIDGET, { plugin, hash, code, map }, log);
  }

  /** What the widget of this plugin last was. */
  async widgetOf(id: string): Promise<WidgetBundle | undefined> {
    const kept = await this.#read(id, WIDGET, KeptWidget);
    return kept && { hash: kept.hash, code: kept.code, map: kept.map, inputs: [] };
  }

  /** The bundles of packages that these need, also those of plugins that are disabled or gone for now. */
  async vendors(): Promise<string[]> {
    const ids = await readdir(this.#folder).catch(() => []);
    const goods = await Promise.all(ids.map((id) => this.of(id)));
    return goods.flatMap((good) => good?.vendor ?? []);
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

  async #write(file: string, kept: Kept, log: RecordLog): Promise<void> {
    const folder = join(this.#folder, kept.plugin.id);
    try {
      await mkdir(folder, { recursive: true });
      await writeDurably(join(folder, file), JSON.stringify(kept));
    } catch (error) {
      const fields = { reason: (error as Error).message };
      log.record({ level: "warn", sentence: "no code is kept to go back to", fields });
    }
  }

  /** A cache that was damaged is as good as none. */
  async #read<S extends typeof KeptServer | typeof KeptWidget>(
    id: string,
    file: string,
    schema: S,
  ): Promise<Type.Static<S> | undefined> {
    const text = await readFile(join(this.#folder, id, file), "utf8").catch(() => "null");
    try {
      const value = JSON.parse(text) as unknown;
      return faultsOf(schema, value).length === 0 ? (value as Type.Static<S>) : undefined;
    } catch {
      return undefined;
    }
  }
}
