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
  /** Gives the plugins that run, or ran last. It is called only if an id may have two plugins. */
  readonly lastRun?: () => readonly PluginPackage[] | Promise<readonly PluginPackage[]>;
}

/**
 * Finds the plugins in each of `roots`, and the installed packages. For the same id a later root wins; within one
 * root the folder that runs or ran last does, otherwise the alphabetically first one, and the other is invalid. So is
 * a package whose id is taken, and a plugin whose bridge kind is taken.
 */
export async function discover(
  roots: readonly string[],
  { allowsLink, packages = [], isShippedId = () => false, ...options }: DiscoveryOptions,
): Promise<Discovery> {
  const plugins = new Map<string, PluginPackage>();
  const broken: InvalidPlugin[] = [];
  const others: InvalidPlugin[] = [];
  const inRoots: Examined[] = [];
  for (const root of roots) {
    const names = await pluginFolders(root);
    const places = names.map((name) => ({ name, folder: join(root, name) }));
    inRoots.push(await examine(places, allowsLink));
  }
  const places = packages.map(({ id, folder, isLinked }) => ({ name: id, folder, isLinked }));
  const installed = await examine(places, allowsLink);
  const lastRun = isContested([...inRoots, installed]) ? ((await options.lastRun?.()) ?? []) : [];
  const add = (examined: Examined, known: ReadonlyMap<string, PluginPackage>): void => {
    const { valid, refused } = withoutDuplicateIds(examined, known, lastRun);
    for (const plugin of valid) plugins.set(plugin.id, plugin);
    broken.push(...refused, ...examined.broken);
    others.push(...examined.others);
  };
  for (const each of inRoots) add(each, new Map());
  add(installed, plugins);
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

/** The folders of one root, or the installed packages. */
interface Examined {
  readonly valid: readonly { readonly name: string; readonly plugin: PluginPackage }[];
  readonly broken: readonly InvalidPlugin[];
  readonly others: readonly InvalidPlugin[];
}

async function examine(
  places: readonly Place[],
  allowsLink: (name: string) => boolean,
): Promise<Examined> {
  const valid: { name: string; plugin: PluginPackage }[] = [];
  const broken: InvalidPlugin[] = [];
  const others: InvalidPlugin[] = [];
  for (const { name, isLinked, ...place } of places) {
    let { folder } = place;
    try {
      folder = await realFolder(folder, name, isLinked, allowsLink);
      valid.push({ name, plugin: await readManifest(folder) });
    } catch (error) {
      const list = isNotAPlugin(error) && isLinked === undefined ? others : broken;
      list.push({ name, folder, error: asMantelError(error, folder) });
    }
  }
  return { valid, broken, others };
}

/** True if two plugins have one id, or a manifest that cannot be read may have had it. */
function isContested(all: readonly Examined[]): boolean {
  if (all.some(({ broken, others }) => broken.length + others.length > 0)) return true;
  const plugins = all.flatMap(({ valid }) => valid.map(({ plugin }) => plugin));
  return new Set(plugins.map(({ id }) => id)).size < plugins.length;
}

/**
 * One plugin for each id that `known` does not have. A folder that runs or ran last keeps its id also while its
 * manifest cannot be read.
 */
function withoutDuplicateIds(
  { valid, broken, others }: Examined,
  known: ReadonlyMap<string, PluginPackage>,
  lastRun: readonly PluginPackage[],
): { valid: PluginPackage[]; refused: InvalidPlugin[] } {
  const unreadable = new Set([...broken, ...others].map(({ folder }) => folder));
  const taken = new Map([
    ...known,
    ...lastRun
      .filter(({ folder }) => unreadable.has(folder))
      .map((each) => [each.id, each] as const),
  ]);
  const isLast = ({ id, folder }: PluginPackage): boolean =>
    lastRun.some((last) => last.id === id && last.folder === folder);
  const [first, rest] = [
    valid.filter(({ plugin }) => isLast(plugin)),
    valid.filter(({ plugin }) => !isLast(plugin)),
  ];
  const accepted = new Set<PluginPackage>();
  const refused: InvalidPlugin[] = [];
  for (const { name, plugin } of [...first, ...rest]) {
    const twin = taken.get(plugin.id);
    if (twin) refused.push({ name, folder: plugin.folder, error: duplicateId(plugin, twin) });
    else accepted.add(plugin);
    if (!twin) taken.set(plugin.id, plugin);
  }
  const inOrder = valid.map(({ plugin }) => plugin);
  return { valid: inOrder.filter((plugin) => accepted.has(plugin)), refused };
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

function duplicateId({ id, folder }: PluginPackage, twin: PluginPackage): MantelError {
  return new MantelError(
    "invalid",
    `${folder} and ${twin.folder} both have the id ${id}; change "mantel.id" in one of them`,
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
