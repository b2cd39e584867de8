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

/** The browser half of one module. */
export class WidgetSide {
  readonly #plugin: PluginPackage;
  readonly #assets: WidgetAssets;
  #inputs: ReadonlySet<string> = new Set();
  #view: ModuleView["widget"] = null;

  constructor(plugin: PluginPackage, assets: WidgetAssets) {
    this.#plugin = plugin;
    this.#assets = assets;
  }

  get inputs(): ReadonlySet<string> {
    return this.#inputs;
  }

  get view(): ModuleView["widget"] {
    return this.#view;
  }

  /** Builds the widget, and tells whether its code has changed. */
  async build(): Promise<boolean> {
    const { id, folder, manifest } = this.#plugin;
    const entry = manifest.widget;
    if (entry === undefined) return false;
    const bundle = await this.#assets.buildWidget({ id, folder, entry });
    this.#inputs = new Set(bundle.inputs);
    if (bundle.hash === this.#view?.hash) return false;
    this.#view = { hash: bundle.hash, url: this.#assets.setWidget(id, bundle) };
    return true;
  }

  remove(): void {
    this.#assets.removeWidget(this.#plugin.id);
    this.#view = null;
  }
}
