import type { Build } from "./build.ts";
import type { PluginPackage } from "./manifest.ts";

/** A widget's code as the browser loads it. */
export interface WidgetBundle {
  readonly hash: string;
  readonly code: string;
  readonly map: string;
  /** Absolute paths of every source file in it. */
  readonly inputs: readonly string[];
}

/** All that runs of a module: its manifest, and the code of the sides that it has. */
export interface Version {
  readonly plugin: PluginPackage;
  readonly server: Build | undefined;
  readonly widget: WidgetBundle | undefined;
}

/** What a module ran besides what it runs now. Instants are ISO 8601. */
export interface Ran {
  /** What it ran before, until then. */
  readonly version?: (Version & { readonly until: string }) | undefined;
  /** What somebody has gone back from, and when; the code of each side by its hash. */
  readonly left?: (Identity & { readonly at: string }) | undefined;
}

export interface Identity {
  readonly plugin: PluginPackage;
  readonly server?: string | undefined;
  readonly widget?: string | undefined;
}
