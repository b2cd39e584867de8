import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { isPluginId, type PluginPackage, readManifest } from "./manifest.ts";

/** A folder that looks like a plugin and cannot be one now. */
export interface BrokenFolder {
  /** The folder's name, which stands in for the id that could not be read. */
  readonly name: string;
  readonly folder: string;
  readonly error: MantelError;
}

export interface Discovery {
  readonly plugins: ReadonlyMap<string, PluginPackage>;
  readonly broken: readonly BrokenFolder[];
}

/**
 * Finds the plugins in each of `roots`. On the same id a later root wins; within one root the
 * alphabetically first folder does, and the other is broken.
 */
export async function discover(roots: readonly string[]): Promise<Discovery> {
  const plugins = new Map<string, PluginPackage>();
  const broken: BrokenFolder[] = [];
  for (const root of roots) {
    const inRoot = new Map<string, PluginPackage>();
    for (const name of await pluginFolders(root)) {
      const folder = join(root, name);
      try {
        const plugin = await readPlugin(folder);
        refuseTwin(plugin, inRoot.get(plugin.id));
        inRoot.set(plugin.id, plugin);
      } catch (error) {
        broken.push({ name, folder, error: asMantelError(error, folder) });
      }
    }
    for (const [id, plugin] of inRoot) plugins.set(id, plugin);
  }
  return { plugins, broken };
}

/** Names of entries that are meant as plugins: folders and links with a usable name. */
async function pluginFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => entry.name)
    .filter(isPluginId)
    .toSorted();
}

async function readPlugin(folder: string): Promise<PluginPackage> {
  if ((await lstat(folder)).isSymbolicLink()) {
    throw new MantelError("invalid", `${folder} is a link; move the plugin's folder itself here`);
  }
  return readManifest(await realpath(folder));
}

function refuseTwin(plugin: PluginPackage, twin: PluginPackage | undefined): void {
  if (!twin) return;
  throw new MantelError(
    "invalid",
    `${plugin.folder} and ${twin.folder} both have the id ${plugin.id}; give one another "mantel.id"`,
  );
}

function asMantelError(error: unknown, folder: string): MantelError {
  if (error instanceof MantelError) return error;
  if ((error as NodeJS.ErrnoException).code === "ENOENT") {
    return new MantelError("invalid", `${folder} has no package.json`, { cause: error });
  }
  return new MantelError("invalid", `${folder} cannot be read: ${(error as Error).message}`, {
    cause: error,
  });
}
