import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import type { PluginPackage } from "../code/manifest.ts";
import type { ModuleView } from "../view.ts";
import type { ProcessSettings } from "./generation.ts";

/** What a plugin's process is given: how it is started, and the paths it learns of. */
export interface Confinement {
  readonly settings: ProcessSettings;
  readonly storage: string;
  /** The folders below the data folder that it may use, by name. */
  readonly folders: Readonly<Record<string, string>>;
  /** Where it keeps compiled code of its packages. */
  readonly compiled: string;
}

export interface HostFolders {
  readonly dataFolder: string;
  readonly cacheFolder: string;
}

/**
 * Makes the folders of a plugin, and the settings by which Node keeps its process to them. A process
 * can only be confined when it starts, so the spare is confined for one plugin.
 *
 * @throws MantelError `invalid` when the manifest asks for a folder that leads to the host's own data
 */
export async function confine(
  { id, folder, manifest }: PluginPackage,
  { dataFolder, cacheFolder }: HostFolders,
  { memoryMiB, cpuPercent }: Pick<ModuleView["limits"], "memoryMiB" | "cpuPercent">,
): Promise<Confinement> {
  const { permissions = {} } = manifest;
  const asked = permissions.folders ?? [];
  const foreign = asked.filter((name) => name.startsWith(sep)).map((path) => resolve(path));
  for (const path of foreign) await refuseData(path, id, dataFolder);
  const named = asked.filter((name) => !name.startsWith(sep));
  const folders = Object.fromEntries(named.map((name) => [name, join(dataFolder, name)]));
  const storage = join(dataFolder, "plugins", id);
  const compiled = join(cacheFolder, "compiled", id);
  const write = [storage, compiled, ...Object.values(folders)];
  for (const path of write) await mkdir(path, { recursive: true, mode: 0o700 });
  const code = [join(cacheFolder, "modules", id), join(cacheFolder, "vendor"), folder];
  // By the last one the runtime tells which files are left open; they are open to this process anyway.
  const read = [...code, ...packageFolders(folder), ...foreign, ...write, "/proc/self/fd"];
  const runtime = `--allow-fs-read=${join(cacheFolder, "runtime-*")}`;
  const flags = [runtime, ...(await grants({ read, write })), ...switches(permissions)];
  return {
    settings: {
      ...{ memoryMiB, cpuPercent, childProcesses: permissions.childProcesses === true },
      ...{ folder: storage, flags: countsCoverage() ? [] : flags },
    },
    storage,
    folders,
    compiled,
  };
}

/** Turns Node's permission model on, with what is allowed as a whole or not at all. */
function switches({ hosts = [], ...permissions }: Permissions): string[] {
  const needsNet = hosts.length > 0 || permissions.listen === true;
  return [
    HAS_PERMISSION ? "--permission" : "--experimental-permission",
    ...SILENT,
    ...(permissions.childProcesses ? ["--allow-child-process"] : []),
    ...(permissions.workerThreads ? ["--allow-worker"] : []),
    ...(permissions.nativeAddons ? ["--allow-addons"] : []),
    ...(HAS_NET && needsNet ? ["--allow-net"] : []),
  ];
}

/** Node counts coverage through its inspector, which its permission model closes. */
const countsCoverage = (): boolean => process.env["NODE_V8_COVERAGE"] !== undefined;

const HAS_PERMISSION = process.allowedNodeEnvironmentFlags.has("--permission");
const HAS_NET = process.allowedNodeEnvironmentFlags.has("--allow-net");

/** Node warns of the permission model itself, and of some of the flags. */
const SILENT = ["ExperimentalWarning", "SecurityWarning"].map(
  (type) => `--disable-warning=${type}`,
);

/** Node allows paths and forbids none, so a folder around the data folder would open that as well. */
async function refuseData(path: string, id: string, dataFolder: string): Promise<void> {
  const real = await realpath(path).catch(() => path);
  const leadsThere = isWithin(dataFolder, real) || isWithin(real, dataFolder);
  // By /proc/<pid>/root and /proc/<pid>/environ every file and every secret of the user can be read.
  if (!leadsThere && !/^\/proc(\/(self|thread-self|\d+)(\/.*)?)?$/.test(path)) return;
  throw new MantelError(
    "invalid",
    `the manifest of ${id} asks for the folder ${path}, through which the host's own data can be read: name what the plugin needs of it`,
  );
}

/** Every folder in which Node looks for the packages of a plugin. */
function packageFolders(folder: string): string[] {
  const parent = dirname(folder);
  return [join(folder, "node_modules"), ...(parent === folder ? [] : packageFolders(parent))];
}

/** Flags that let a process read and write what lies in these folders. */
async function grants(paths: Record<"read" | "write", readonly string[]>): Promise<string[]> {
  const flagsFor = async (access: "read" | "write"): Promise<string[]> =>
    (await patternsOf(paths[access])).map((pattern) => `--allow-fs-${access}=${pattern}`);
  return [...(await flagsFor("read")), ...(await flagsFor("write"))];
}

/** Node 20 ends with a failed assertion when it is given a path twice, so only the outermost are. */
async function patternsOf(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map(realPath));
  const all = [...new Set([...paths, ...real])];
  const isOutermost = (path: string) => !all.some((each) => each !== path && isWithin(path, each));
  return Promise.all(all.filter(isOutermost).map(patternOf));
}

/** What lies in `/proc/self` is another's for each process that asks. */
async function realPath(path: string): Promise<string> {
  return path.startsWith("/proc/") ? path : realpath(path).catch(() => path);
}

async function patternOf(path: string): Promise<string> {
  const isFile = await stat(path).then(
    (stats) => !stats.isDirectory(),
    () => false,
  );
  return isFile ? path : join(path, "*");
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
