import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import { Type } from "typebox";
import { faultsOf } from "../validate.ts";
import type { Build } from "./compile.ts";
import type { PluginPackage } from "./manifest.ts";

const FILE = "last-good.json";
const Kept = Type.Object({
  plugin: Type.Object({
    id: Type.String(),
    folder: Type.String(),
    version: Type.String(),
    manifest: Manifest,
  }),
  hash: Type.String(),
  bundle: Type.String(),
  vendor: Type.Optional(Type.String()),
});

/** Code that worked, as it outlasts a restart of the host. */
export interface LastGood {
  readonly plugin: PluginPackage;
  readonly build: Build;
}

/** What each plugin last ran with success, beside its bundles in the cache. */
export class LastGoods {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, "modules");
  }

  async keep(plugin: PluginPackage, { hash, bundle, vendor }: Build): Promise<void> {
    const folder = join(this.#folder, plugin.id);
    await mkdir(folder, { recursive: true });
    await writeDurably(join(folder, FILE), JSON.stringify({ plugin, hash, bundle, vendor }));
  }

  /** What the plugin of this id last ran; `undefined` when that is not there any more. */
  async of(id: string): Promise<LastGood | undefined> {
    const text = await readFile(join(this.#folder, id, FILE), "utf8").catch(() => "null");
    const kept = parse(text);
    if (!kept || !existsSync(kept.bundle)) return undefined;
    if (kept.vendor !== undefined && !existsSync(kept.vendor)) return undefined;
    const { plugin, hash, bundle, vendor } = kept;
    return { plugin, build: { hash, bundle, vendor, inputs: new Set() } };
  }

  /** What the plugin in this folder last was, for a folder whose manifest cannot be read. */
  async ofFolder(folder: string): Promise<LastGood | undefined> {
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const found = await this.of(id);
      if (found?.plugin.folder === folder) return found;
    }
    return undefined;
  }
}

/** A cache that was damaged is as good as none. */
function parse(text: string): Type.Static<typeof Kept> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return faultsOf(Kept, value).length === 0 ? (value as Type.Static<typeof Kept>) : undefined;
  } catch {
    return undefined;
  }
}
