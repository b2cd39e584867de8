import type { FoundPackage, PluginView } from "../../host/api/plugin.ts";
import type { InstallRequest, UpdateRequest } from "../../host/packages/packages.ts";

/** The result of an installation or an update. */
export interface Changed {
  readonly plugin: PluginView;
  readonly result: "installed" | "updated" | "unchanged";
}

/** The plugins of a home: through its running host, or in its data folder. */
export interface PluginHome {
  /** `unknown` has the reasons why a newest version is unknown, by plugin id. */
  list(latest: boolean): Promise<{ plugins: PluginView[]; unknown: Record<string, string> }>;
  search(text: string): Promise<FoundPackage[]>;
  install(request: InstallRequest): Promise<Changed>;
  update(id: string, request: UpdateRequest): Promise<Changed>;
  pin(id: string, pinned: boolean): Promise<PluginView>;
  remove(id: string, purge: boolean): Promise<void>;
  /** Permissions that wait for consent, in words; those of the installed version if nothing runs. */
  needed(plugin: PluginView): string[];
  consent(plugin: PluginView): Promise<void>;
  close(): Promise<void>;
}
