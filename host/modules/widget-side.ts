import type { LastGoods } from "./last-good.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import type { ModuleView } from "./view.ts";

/** A widget's code as the browser loads it. */
export interface WidgetBundle {
  readonly hash: string;
  readonly code: string;
  readonly map: string;
  /** Absolute paths of every source file in it. */
  readonly inputs: readonly string[];
}

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

/** The browser half of one module, when its manifest has one. */
export class WidgetSide {
  readonly #id: string;
  readonly #parts: WidgetParts;
  #inputs: ReadonlySet<string> = new Set();
  #view: ModuleView["widget"] = null;
  #keeping: Promise<void> | undefined;

  constructor(id: string, parts: WidgetParts) {
    this.#id = id;
    this.#parts = parts;
  }

  get inputs(): ReadonlySet<string> {
    return this.#inputs;
  }

  get view(): ModuleView["widget"] {
    return this.#view;
  }

  /**
   * Builds and serves what is on the disk or, when that does not build, what was served last before
   * the host ended. Gives the failure of what is on the disk, when the other had to be taken.
   */
  async start(plugin: PluginPackage): Promise<unknown> {
    try {
      this.serve(plugin, await this.build(plugin));
      await this.#keeping;
      return undefined;
    } catch (error) {
      const good = await this.#parts.lastGoods.widgetOf(this.#id);
      if (!good) throw error;
      this.#show(good);
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
    const before = this.#view;
    if (bundle) this.#show(bundle);
    else this.remove();
    if (before?.hash === this.#view?.hash) return false;
    const { lastGoods, log } = this.#parts;
    if (bundle) this.#keeping = lastGoods.keepWidget(plugin, bundle, log);
    return true;
  }

  /** Resolves when what is served is noted as good. */
  async kept(): Promise<void> {
    await this.#keeping;
  }

  remove(): void {
    if (this.#view) this.#parts.assets.removeWidget(this.#id);
    this.#view = null;
    this.#inputs = new Set();
  }

  #show(bundle: WidgetBundle): void {
    this.#inputs = new Set(bundle.inputs);
    if (bundle.hash === this.#view?.hash) return;
    this.#view = { hash: bundle.hash, url: this.#parts.assets.setWidget(this.#id, bundle) };
  }
}
