import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "@mantel/plugin-sdk";
import { BuildCache } from "../build-cache.ts";
import type { WidgetAssets, WidgetSource } from "../modules/lifecycle/widget.ts";
import type { WidgetBundle } from "../modules/versions/version.ts";
import { type Asset, ICONS, TYPES } from "./asset.ts";
import { buildShell } from "./build-shell.ts";
import { buildWidget } from "./build-widget.ts";
import { Icons } from "./icons.ts";

/** The code that builds widgets: when it changes, every widget is built again. */
const WIDGET_BUILDERS = [
  "build-widget.ts",
  "guard-loops.ts",
  "../modules/build/source-boundary.ts",
].map((file) => fileURLToPath(new URL(file, import.meta.url)));

/** The builds of a widget that are available: the current one, and the one before it for pages that still load that. */
const KEPT_VERSIONS = 2;

/** Maximum number of icons in one answer. */
const MAX_ICONS = 100;

interface ServedWidget {
  readonly hash: string;
  readonly code: Asset;
  readonly map: Asset;
}

/** All static files that browsers load: the shell, the widgets' code and the icons. */
export class Assets implements WidgetAssets {
  readonly #log: Log;
  readonly #built: BuildCache;
  readonly #widgets = new Map<string, ServedWidget[]>();
  #shell: Promise<ReadonlyMap<string, Asset>> | undefined;
  readonly #icons = new Icons();

  constructor({ log, cacheFolder }: { log: Log; cacheFolder: string }) {
    this.#log = log;
    this.#built = new BuildCache(cacheFolder);
  }

  /** The shell. It is built at the first call; after a failure, the next call builds it again. */
  openShell(): Promise<ReadonlyMap<string, Asset>> {
    this.#shell ??= this.#build().catch((error: unknown) => {
      this.#shell = undefined;
      throw error;
    });
    return this.#shell;
  }

  async #build(): Promise<ReadonlyMap<string, Asset>> {
    const startedAt = performance.now();
    const shell = await buildShell(this.#built);
    this.#log.debug("dashboard built", { durationMs: Math.round(performance.now() - startedAt) });
    return shell;
  }

  /** Builds a widget, or returns the cached build of identical files. */
  buildWidget(widget: WidgetSource): Promise<WidgetBundle> {
    const entry = join(widget.folder, widget.entry);
    return this.#built.orMake(`widget-${widget.id}`, entry, async () => {
      const value = await buildWidget(widget);
      return { value, inputs: [...value.inputs, ...WIDGET_BUILDERS] };
    });
  }

  setWidget(id: string, { hash, code, map }: WidgetBundle): string {
    const others = (this.#widgets.get(id) ?? []).filter((each) => each.hash !== hash);
    const served = { hash, code: asset(code, ".js"), map: asset(map, ".map") };
    this.#widgets.set(id, [served, ...others].slice(0, KEPT_VERSIONS));
    return `/assets/widgets/${id}.${hash}.js`;
  }

  removeWidget(id: string): void {
    this.#widgets.delete(id);
  }

  /** The file at a path. Paths are looked up, never opened as files. A file of the shell waits until that is built. */
  async find(path: string): Promise<Asset | undefined> {
    if (path.startsWith(ICONS)) return this.#iconsOf(path.slice(ICONS.length));
    return this.#widget(path) ?? (await this.openShell()).get(path);
  }

  #iconsOf(file: string): Asset | undefined {
    const [, list = ""] = /^([a-z0-9,-]+)\.json$/.exec(file) ?? [];
    const names = list.split(",", MAX_ICONS + 1);
    if (list === "" || names.length > MAX_ICONS) return undefined;
    return asset(JSON.stringify(this.#icons.find(names)), ".json");
  }

  #widget(path: string): Asset | undefined {
    const [, id = "", hash, end] =
      /^\/assets\/widgets\/([a-z0-9-]+)\.([0-9a-f]+)(\.js|\.js\.map)$/.exec(path) ?? [];
    const served = this.#widgets.get(id)?.find((each) => each.hash === hash);
    return end === ".js" ? served?.code : served?.map;
  }
}

function asset(body: string, end: string): Asset {
  return { body, type: TYPES[end] ?? "", immutable: true };
}
