import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { linkNotAllowed } from "./linked-packages.ts";
import { isPluginId, NotAPlugin, type PluginPackage, readManifest } from "./manifest.ts";

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
  /** Folders that are not a plugin, such as an npm package or a copy that has just begun. */
  readonly others: readonly InvalidPlugin[];
}

/** The folder of an installed package. */
export interface PackageFolder {
  readonly id: string;
  readonly folder: string;
  /** True if it is a folder elsewhere, under development. */
  readonly isLinked: boolean;
}

export interface DiscoveryOptions {
  /** True if the entry with that name may be a link; the plugin's folder is then the link's target. */
  readonly allowsLink: (name: string) => boolean;
  readonly packages?: readonly PackageFolder[];
  /** True for ids of plugins that ship with Mantel, some of which share a bridge kind. */
  readonly isShippedId?: (id: string) => boolean;
}

/**
 * Finds the plugins in each of `roots`, and the installed packages. For the same id a later root wins; within one
 * root the alphabetically first folder does, and the other is invalid. So is a package whose id is taken, and a
 * plugin whose bridge kind is taken.
 */
export async function discover(
  roots: readonly string[],
  { allowsLink, packages = [], isShippedId = () => false }: DiscoveryOptions,
): Promise<Discovery> {
  const plugins = new Map<string, PluginPackage>();
  const broken: InvalidPlugin[] = [];
  const others: InvalidPlugin[] = [];
  const examine = async (
    { name, ...place }: Place,
    isAllowed: (plugin: PluginPackage) => void,
  ): Promise<void> => {
    let { folder } = place;
    try {
      folder = await realFolder(folder, name, place.isLinked, allowsLink);
      isAllowed(await readManifest(folder));
    } catch (error) {
      const list = isNotAPlugin(error) && place.isLinked === undefined ? others : broken;
      list.push({ name, folder, error: asMantelError(error, folder) });
    }
  };
  for (const root of roots) {
    const inRoot = new Map<string, PluginPackage>();
    for (const name of await pluginFolders(root)) {
      await examine({ name, folder: join(root, name) }, (plugin) => {
        refuseDuplicateId(plugin, inRoot.get(plugin.id));
        inRoot.set(plugin.id, plugin);
      });
    }
    for (const [id, plugin] of inRoot) plugins.set(id, plugin);
  }
  for (const { id, folder, isLinked } of packages) {
    await examine({ name: id, folder, isLinked }, (plugin) => {
      refuseDuplicateId(plugin, plugins.get(plugin.id));
      plugins.set(plugin.id, plugin);
    });
  }
  for (const { plugin, error } of sharedKinds([...plugins.values()], isShippedId)) {
    plugins.delete(plugin.id);
    broken.push({ name: plugin.id, folder: plugin.folder, error });
  }
  return { plugins, broken, others };
}

interface Place {
  readonly name: string;
  readonly folder: string;
  /** Absent for an entry of a root. */
  readonly isLinked?: boolean;
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
  isLinked: boolean | undefined,
  allowsLink: (name: string) => boolean,
): Promise<string> {
  const isLink = isLinked ?? (await lstat(folder)).isSymbolicLink();
  if (isLink && !allowsLink(name)) throw new MantelError("invalid", linkNotAllowed(folder, name));
  return realpath(folder);
}

/** True for a folder without a `package.json`, and for the package of something else. */
function isNotAPlugin(error: unknown): boolean {
  return error instanceof NotAPlugin || (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Plugins whose bridge kind another plugin before them has. Device ids begin with it. */
function sharedKinds(
  plugins: readonly PluginPackage[],
  isShippedId: (id: string) => boolean,
): { plugin: PluginPackage; error: MantelError }[] {
  return plugins.flatMap((plugin, at) => {
    const twin = findKindTwin(plugin, plugins.slice(0, at), isShippedId);
    return twin ? [{ plugin, error: sharedKind(plugin, twin) }] : [];
  });
}

/** The other plugin with the same bridge kind, unless both ship with Mantel. */
export function findKindTwin(
  { id, manifest }: PluginPackage,
  others: readonly PluginPackage[],
  isShippedId: (id: string) => boolean,
): PluginPackage | undefined {
  const kind = manifest.bridge?.kind;
  if (kind === undefined) return undefined;
  return others.find(
    (other) =>
      other.id !== id &&
      other.manifest.bridge?.kind === kind &&
      !(isShippedId(id) && isShippedId(other.id)),
  );
}

/** The error for two plugins with one bridge kind. */
export function sharedKind({ id, manifest }: PluginPackage, twin: PluginPackage): MantelError {
  const kind = manifest.bridge?.kind ?? "";
  return new MantelError(
    "plugin_exists",
    `${id} and ${twin.id} both have the bridge kind ${kind}, with which the ids of their devices begin; remove one of them`,
  );
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
