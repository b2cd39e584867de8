import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { linkNotAllowed } from "./linked-packages.ts";
import { isPluginId, type PluginPackage, readManifest } from "./manifest.ts";

/** A folder that looks like a plugin and is not a valid one. */
export interface InvalidPlugin {
  /** The folder's name, used as the id that could not be read. */
  readonly name: string;
  readonly folder: string;
  readonly error: MantelError;
}

export interface Discovery {
  readonly plugins: ReadonlyMap<string, PluginPackage>;
  readonly broken: readonly InvalidPlugin[];
}

/**
 * Finds the plugins in each of `roots`. For the same id a later root wins; within one root the
 * alphabetically first folder does, and the other is invalid. `allowsLink` is true if the entry with
 * that name may be a link; the plugin's folder is then the link's target.
 */
export async function discover(
  roots: readonly string[],
  allowsLink: (name: string) => boolean,
): Promise<Discovery> {
  const plugins = new Map<string, PluginPackage>();
  const broken: InvalidPlugin[] = [];
  for (const root of roots) {
    const inRoot = new Map<string, PluginPackage>();
    for (const name of await pluginFolders(root)) {
      let folder = join(root, name);
      try {
        folder = await realFolder(folder, name, allowsLink);
        const plugin = await readManifest(folder);
        refuseDuplicateId(plugin, inRoot.get(plugin.id));
        inRoot.set(plugin.id, plugin);
      } catch (error) {
        broken.push({ name, folder, error: asMantelError(error, folder) });
      }
    }
    for (const [id, plugin] of inRoot) plugins.set(id, plugin);
  }
  return { plugins, broken };
}

/** Names of entries that may be plugins: folders and links with a valid name. */
async function pluginFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => entry.name)
    .filter(isPluginId)
    .toSorted();
}

async function realFolder(
  folder: string,
  name: string,
  allowsLink: (name: string) => boolean,
): Promise<string> {
  if ((await lstat(folder)).isSymbolicLink() && !allowsLink(name)) {
    throw new MantelError("invalid", linkNotAllowed(folder, name));
  }
  return realpath(folder);
}

function refuseDuplicateId(plugin: PluginPackage, twin: PluginPackage | undefined): void {
  if (!twin) return;
  throw new MantelError(
    "invalid",
    `${plugin.folder} and ${twin.folder} both have the id ${plugin.id}; change "mantel.id" in one of them`,
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
