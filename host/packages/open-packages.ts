import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Operation } from "../api/plugin.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { SDK_FOLDER } from "../modules/build/esbuild-plugin.ts";
import type { Consents } from "../modules/consent/consents.ts";
import type { ModuleManager } from "../modules/manager.ts";
import { discover } from "../modules/manifest/discover.ts";
import type { VersionStore } from "../modules/versions/version-store.ts";
import { InstalledPlugins } from "./installed-plugins.ts";
import type { PackageLock } from "./lock.ts";
import { packageFolders } from "./package-folders.ts";
import { Packages, type PackagesDependencies, type PluginDirectory } from "./packages.ts";

interface Shared {
  readonly dataFolder: string;
  readonly lock: PackageLock;
  readonly config: ConfigStore;
  readonly consents: Consents;
  readonly versionStore: VersionStore;
  readonly log: HostLog;
  /** The version of Mantel. */
  readonly version: string;
  readonly isShippedId: (id: string) => boolean;
}

export interface RunningHostDependencies extends Shared {
  readonly modules: ModuleManager;
  readonly bus: Bus;
}

export interface OfflineDependencies extends Shared {
  /** Plugin folders. */
  readonly roots: readonly string[];
  readonly progress: (operation: Operation) => void;
}

/** The installed packages, and what is shown of them. */
export interface OpenPackages {
  readonly packages: Packages;
  readonly plugins: InstalledPlugins;
  readonly close: () => Promise<void>;
}

/** Opens the packages of a running host. Leftovers of an interrupted installation are removed. */
export async function openHostPackages(parts: RunningHostDependencies): Promise<OpenPackages> {
  const { modules, bus } = parts;
  const view = (id: string) => modules.list().find((module) => module.id === id);
  const packages = await openPackages(parts, {
    plugins: async () => modules.plugins(),
    runningFolder: (id) => modules.running(id)?.folder,
    view,
    follow: async (id) => {
      await modules.follow(id);
      return view(id);
    },
    progress: ({ id, action, plugin, endedAt, error }) => {
      const state = endedAt === null ? "running" : error === null ? "done" : "failed";
      bus.emit("plugin.progress", { id, action, plugin, state });
    },
    changed: (id, action, version) => bus.emit("plugin.installed", { id, action, version }),
  });
  const stopListening = bus.on(({ topic, data }) => {
    if (topic === "module.state") packages.moduleChanged(data.module);
  });
  const runningVersion = (id: string) => {
    const state = view(id)?.state ?? "disabled";
    const isRunning = ["active", "degraded", "reloading"].includes(state);
    return isRunning ? modules.running(id)?.version : undefined;
  };
  const plugins = new InstalledPlugins({ ...parts, packages, module: view, runningVersion });
  const close = (): Promise<void> => {
    stopListening();
    return packages.close();
  };
  return { packages, plugins, close };
}

/** Opens the packages of a home whose host does not run. Hold the lock of the data folder. */
export async function openPackagesOffline(parts: OfflineDependencies): Promise<OpenPackages> {
  const { roots, config, lock, dataFolder, isShippedId, versionStore } = parts;
  const allowsLink = (name: string) => config.current.modules[name]?.links === true;
  const packages = await openPackages(parts, {
    plugins: async () => {
      const installed = packageFolders(dataFolder, lock);
      const found = await discover(roots, {
        allowsLink,
        isShippedId,
        packages: installed,
        lastRun: () => versionStore.plugins(),
      });
      return [...found.plugins.values()];
    },
    runningFolder: () => undefined,
    view: () => undefined,
    follow: async () => undefined,
    progress: parts.progress,
    changed: () => undefined,
  });
  const none = () => undefined;
  const plugins = new InstalledPlugins({ ...parts, packages, module: none, runningVersion: none });
  return { packages, plugins, close: () => packages.close() };
}

type Differences = Pick<PluginDirectory, "plugins" | "runningFolder" | "view" | "follow"> &
  Pick<PackagesDependencies, "progress" | "changed">;

async function openPackages(parts: Shared, differences: Differences): Promise<Packages> {
  const { dataFolder, lock, log, version, config, consents, versionStore, isShippedId } = parts;
  const { progress, changed, ...directory } = differences;
  const packages = new Packages({
    dataFolder,
    lock,
    log,
    versions: { mantel: version, sdk: await sdkVersion() },
    progress,
    changed,
    directory: {
      ...directory,
      isShippedId,
      allowsLink: (id) => config.current.modules[id]?.links === true,
      forgetConsent: (id) => consents.forget(id),
      async forget(id, purge) {
        await consents.forget(id);
        await versionStore.forget(id);
        if (!purge) return;
        const settings = config.current.modules[id] ? { modules: { [id]: null } } : {};
        const options = config.hasSection(id) ? { [id]: null } : {};
        await config.patch({ ...settings, ...options }, { admin: true });
        await rm(join(dataFolder, "plugins", id), { recursive: true, force: true });
      },
    },
  });
  if (lock.exists) await packages.folders.sweep();
  return packages;
}

async function sdkVersion(): Promise<string> {
  const text = await readFile(join(SDK_FOLDER, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
