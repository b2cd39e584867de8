import { type Needs, needsWithOwn } from "@mantel/plugin-sdk/needs";
import type { ModuleView } from "../../api/module.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ApiPaths } from "../../routes/api-paths.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { VersionStore } from "../versions/version-store.ts";
import type { WidgetBundle } from "../versions/version.ts";
import type { ServedCode } from "./widget-faults.ts";

export interface WidgetSource {
  readonly id: string;
  readonly folder: string;
  /** Relative to the folder. */
  readonly entry: string;
  /** True if its files may be links to sources elsewhere. */
  readonly allowsLinks?: boolean;
}

/** Builds and serves widgets. */
export interface WidgetAssets {
  /** @throws MantelError `reload_failed`, with the place in the source */
  buildWidget(widget: WidgetSource): Promise<WidgetBundle>;
  /** Serves a widget from now on, and returns its URL. */
  setWidget(id: string, bundle: WidgetBundle): string;
  removeWidget(id: string): void;
}

interface WidgetDependencies {
  readonly assets: WidgetAssets;
  readonly versionStore: VersionStore;
  readonly config: ConfigStore;
  readonly log: ModuleLog;
  /** Called when this code, or none, is served from now on. */
  readonly onServed: (hash: string | undefined) => void;
  readonly apiPaths: Pick<ApiPaths, "findRouted">;
  /** True for a plugin of the repository that runs from its own folder there. */
  readonly isShipped: (plugin: PluginPackage) => boolean;
}

const NO_FILES: readonly string[] = [];

interface Served extends ServedCode {
  readonly url: string;
}

/** The browser side of one module, if its manifest has one. */
export class Widget {
  readonly #id: string;
  readonly #parts: WidgetDependencies;
  #served: Served | undefined;
  #storing: Promise<void> | undefined;

  constructor(id: string, parts: WidgetDependencies) {
    this.#id = id;
    this.#parts = parts;
  }

  get inputs(): readonly string[] {
    return this.#served?.bundle.inputs ?? NO_FILES;
  }

  /** The served bundle. */
  get bundle(): WidgetBundle | undefined {
    return this.#served?.bundle;
  }

  /** The served code, and the plugin it was built from. */
  get served(): ServedCode | undefined {
    return this.#served;
  }

  get view(): ModuleView["widget"] {
    if (!this.#served) return null;
    const { plugin, bundle, url } = this.#served;
    const shipped = this.#parts.isShipped(plugin);
    const isTrusted = this.#parts.config.current.modules[this.#id]?.trusted === true;
    const runsIn = shipped || isTrusted ? "page" : "frame";
    return {
      hash: bundle.hash,
      url,
      runsIn,
      shipped,
      needs: needsOf(plugin, this.#parts.apiPaths),
    };
  }

  /**
   * Builds and serves the widget on disk. If it does not build, serves the last good one from before the
   * host restarted, and returns the error. If `isRolledBack`, serves the last good one first. A plugin without a
   * widget serves none.
   */
  async start(plugin: PluginPackage, isRolledBack = false): Promise<unknown> {
    const good = await this.#parts.versionStore.widget(this.#id);
    if (isRolledBack && good && plugin.manifest.widget !== undefined) {
      this.#show(plugin, good);
      return undefined;
    }
    try {
      this.serve(plugin, await this.build(plugin));
      await this.#storing;
      return undefined;
    } catch (error) {
      if (!good) throw error;
      this.#show(plugin, good);
      return error;
    }
  }

  /** Builds the widget on disk; `undefined` for a plugin without a widget. */
  async build({ id, folder, manifest }: PluginPackage): Promise<WidgetBundle | undefined> {
    const entry = manifest.widget;
    if (entry === undefined) return undefined;
    const { assets, config } = this.#parts;
    const allowsLinks = config.current.modules[id]?.links === true;
    return assets.buildWidget({ id, folder, entry, allowsLinks });
  }

  /** Serves a build from now on, before it is stored. Returns true if it differs from the previous one. */
  serve(plugin: PluginPackage, bundle: WidgetBundle | undefined): boolean {
    const before = this.#served;
    if (bundle) this.#show(plugin, bundle);
    else this.remove();
    const { versionStore, log } = this.#parts;
    const isOther = before?.bundle.hash !== bundle?.hash;
    if (bundle && (isOther || before?.plugin !== plugin)) {
      this.#storing = versionStore.storeWidget(plugin, bundle, log);
    }
    return isOther;
  }

  /** Resolves when the served bundle is stored as last good. */
  async stored(): Promise<void> {
    await this.#storing;
  }

  remove(): void {
    if (this.#served) this.#parts.assets.removeWidget(this.#id);
    this.#served = undefined;
    this.#parts.onServed(undefined);
  }

  #show(plugin: PluginPackage, bundle: WidgetBundle): void {
    const isSame = bundle.hash === this.#served?.bundle.hash;
    const url = isSame ? this.#served?.url : undefined;
    this.#served = { plugin, bundle, url: url ?? this.#parts.assets.setWidget(this.#id, bundle) };
    this.#parts.onServed(bundle.hash);
  }
}

/**
 * The needs of a plugin's widget, which may also call the plugin's own services, and read its routes at paths of the
 * API that it has.
 */
function needsOf(
  { id, manifest: { needs = {}, provides = [], paths = {} } }: PluginPackage,
  apiPaths: WidgetDependencies["apiPaths"],
): Needs {
  const routed = Object.keys(paths).filter((path) => apiPaths.findRouted(path) === id);
  return needsWithOwn(needs, { provides, routed });
}
