import type { LastGoods } from "./code/last-good.ts";
import type { PluginPackage } from "./code/manifest.ts";
import type { WidgetBundle } from "./code/version.ts";
import type { ModuleLog } from "./logs.ts";
import type { ModuleView } from "./view.ts";

export interface WidgetSource {
  readonly id: string;
  readonly folder: string;
  /** Relative to the folder. */
  readonly entry: string;
}

/** Builds widgets and serves them. */
export interface WidgetAssets {
  /** @throws MantelError `reload_failed`, with the place in the source */
  buildWidget(widget: WidgetSource): Promise<WidgetBundle>;
  /** Serves a widget from now on, and gives its address. */
  setWidget(id: string, bundle: WidgetBundle): string;
  removeWidget(id: string): void;
}

interface WidgetParts {
  readonly assets: WidgetAssets;
  readonly lastGoods: LastGoods;
  readonly log: ModuleLog;
}

interface Served {
  readonly plugin: PluginPackage;
  readonly bundle: WidgetBundle;
  readonly url: string;
}

/** The browser half of one module, when its manifest has one. */
export class WidgetSide {
  readonly #id: string;
  readonly #parts: WidgetParts;
  #served: Served | undefined;
  #keeping: Promise<void> | undefined;

  constructor(id: string, parts: WidgetParts) {
    this.#id = id;
    this.#parts = parts;
  }

  get inputs(): ReadonlySet<string> {
    return new Set(this.#served?.bundle.inputs);
  }

  /** What is served. */
  get bundle(): WidgetBundle | undefined {
    return this.#served?.bundle;
  }

  get view(): ModuleView["widget"] {
    return this.#served ? { hash: this.#served.bundle.hash, url: this.#served.url } : null;
  }

  /**
   * Builds and serves what is on the disk or, when that does not build, what was served last before
   * the host ended. Gives the failure of what is on the disk, when the other had to be taken. `isHeld`
   * says that what was served last comes first.
   */
  async start(plugin: PluginPackage, isHeld = false): Promise<unknown> {
    const good = await this.#parts.lastGoods.widgetOf(this.#id);
    if (isHeld && good) {
      this.#show(plugin, good);
      return undefined;
    }
    try {
      this.serve(plugin, await this.build(plugin));
      await this.#keeping;
      return undefined;
    } catch (error) {
      if (!good) throw error;
      this.#show(plugin, good);
      return error;
    }
  }

  /** Builds what is on the disk; `undefined` for a plugin without a widget. */
  async build({ id, folder, manifest }: PluginPackage): Promise<WidgetBundle | undefined> {
    const entry = manifest.widget;
    if (entry === undefined) return undefined;
    return this.#parts.assets.buildWidget({ id, folder, entry });
  }

  /** Serves a build from now on, and tells whether it is another than before. Browsers do not wait for the disk. */
  serve(plugin: PluginPackage, bundle: WidgetBundle | undefined): boolean {
    const before = this.#served;
    if (bundle) this.#show(plugin, bundle);
    else this.remove();
    const { lastGoods, log } = this.#parts;
    const isOther = before?.bundle.hash !== bundle?.hash;
    if (bundle && (isOther || before?.plugin !== plugin)) {
      this.#keeping = lastGoods.keepWidget(plugin, bundle, log);
    }
    return isOther;
  }

  /** Resolves when what is served is noted as good. */
  async kept(): Promise<void> {
    await this.#keeping;
  }

  remove(): void {
    if (this.#served) this.#parts.assets.removeWidget(this.#id);
    this.#served = undefined;
  }

  #show(plugin: PluginPackage, bundle: WidgetBundle): void {
    const isSame = bundle.hash === this.#served?.bundle.hash;
    const url = isSame ? this.#served?.url : undefined;
    this.#served = { plugin, bundle, url: url ?? this.#parts.assets.setWidget(this.#id, bundle) };
  }
}
