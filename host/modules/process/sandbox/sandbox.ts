import { mkdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import type { Network } from "@mantel/plugin-sdk/protocol";
import type { ModuleView } from "../../../api/module.ts";
import { packageFolders } from "../../build/source-boundary.ts";
import type { PluginPackage } from "../../manifest/manifest.ts";
import type { ProcessSettings } from "../plugin-process.ts";
import type { SandboxContents } from "./bubblewrap.ts";

/** The settings that a plugin's process starts with, and the paths it gets. */
export interface Sandbox {
  readonly settings: ProcessSettings;
  readonly storage: string;
  /** The folders below the data folder that it may use, by name. */
  readonly folders: Readonly<Record<string, string>>;
  /** The folder for compiled code of its packages. */
  readonly compiled: string;
}

export interface HostFolders {
  readonly dataFolder: string;
  readonly cacheFolder: string;
}

/**
 * Creates the folders of a plugin, and the settings that confine its process to them. A process
 * can only be confined when it starts, so a warm process is confined for one plugin.
 *
 * @throws MantelError `invalid` if the manifest names a folder that leads to the host's own data
 */
export async function createSandbox(
  { id, folder, manifest }: PluginPackage,
  { dataFolder, cacheFolder }: HostFolders,
  {
    memoryMiB,
    cpuPercent,
    network,
  }: Pick<ModuleView["limits"], "memoryMiB" | "cpuPercent"> & { readonly network: Network },
): Promise<Sandbox> {
  const { permissions = {} } = manifest;
  const requested = permissions.folders ?? [];
  const foreign = requested.filter((name) => name.startsWith(sep)).map((path) => resolve(path));
  for (const path of foreign) await refuseData(path, id, dataFolder);
  const named = requested.filter((name) => !name.startsWith(sep));
  const folders = Object.fromEntries(named.map((name) => [name, join(dataFolder, name)]));
  const storage = join(dataFolder, "plugins", id);
  const compiled = join(cacheFolder, "compiled", id);
  const write = [storage, compiled, ...Object.values(folders)];
  for (const path of write) await mkdir(path, { recursive: true, mode: 0o700 });
  const built = [join(cacheFolder, "modules", id), join(cacheFolder, "vendor")];
  for (const path of built) await mkdir(path, { recursive: true });
  const readable = [...built, folder, ...packageFolders(folder), ...foreign];
  const read = [...readable, ...write];
  const runtime = `--allow-fs-read=${join(cacheFolder, "runtime-*")}`;
  const sandbox = await sandboxOf({ read: readable, write }, permissions, network);
  const flags = [
    runtime,
    ...C_LIBRARY,
    ...(await grants({ read, write })),
    ...switches(permissions, network),
  ];
  return {
    settings: {
      memoryMiB,
      cpuPercent,
      childProcesses: permissions.childProcesses === true,
      folder: storage,
      flags,
      sandbox,
      network,
      hosts: permissions.hosts ?? [],
    },
    storage,
    folders,
    compiled,
  };
}

/** Packages with native code read these files to find out which C library the machine has. */
const C_LIBRARY = ["/etc/alpine-release", "/proc/self/exe", "/usr/bin/ldd"].map(
  (path) => `--allow-fs-read=${path}`,
);

/**
 * The environment of the process. A folder that is deleted and created again at the same path is another folder,
 * which a warm process does not see: so `identities` are compared too when a warm process is chosen.
 */
async function sandboxOf(
  { read, write }: Record<"read" | "write", readonly string[]>,
  permissions: Permissions,
  network: Network,
): Promise<SandboxContents & { readonly identities: readonly string[] }> {
  const { childProcesses = false, nativeAddons = false } = permissions;
  const certificates = network === "none" ? [] : extraCertificates();
  const readable = [...read.filter((path) => !path.startsWith("/proc/")), ...certificates];
  const identities = await Promise.all([...readable, ...write].map(identityOf));
  return {
    readable,
    writable: write,
    identities,
    hasOpenNetwork: network === "open",
    hasPrograms: childProcesses || nativeAddons,
  };
}

function extraCertificates(): string[] {
  return [process.env["NODE_EXTRA_CA_CERTS"]].filter((path) => path !== undefined);
}

/** The file at a path. The number of a removed one is given away again, so the time of its creation belongs to it. */
async function identityOf(path: string): Promise<string> {
  return stat(path, { bigint: true }).then(
    ({ dev, ino, birthtimeNs }) => `${dev}:${ino}:${birthtimeNs}`,
    () => "",
  );
}

/** The flags that enable Node's permission model, and its permissions that are either on or off. */
function switches(permissions: Permissions, network: Network): string[] {
  return [
    hasFlag("--permission") ? "--permission" : "--experimental-permission",
    ...SILENT,
    ...(permissions.childProcesses ? ["--allow-child-process"] : []),
    ...(permissions.workerThreads ? ["--allow-worker"] : []),
    ...(permissions.nativeAddons ? ["--allow-addons"] : []),
    ...(hasFlag("--disable-sigusr1") ? ["--disable-sigusr1"] : []),
    ...(hasFlag("--experimental-sqlite") && !permissions.sqlite
      ? ["--no-experimental-sqlite"]
      : []),
    ...(hasFlag("--allow-net") && network !== "none" ? ["--allow-net"] : []),
  ];
}

/** True if this version of Node has the flag. */
const hasFlag = (name: string): boolean => process.allowedNodeEnvironmentFlags.has(name);

/** Silences Node's warnings about the permission model and some of the flags. */
const SILENT = ["ExperimentalWarning", "SecurityWarning"].map(
  (type) => `--disable-warning=${type}`,
);

/** Refuses folders around the data folder or in it: Node can only allow paths, so the data would be readable too. */
async function refuseData(path: string, id: string, dataFolder: string): Promise<void> {
  const real = await realpath(path).catch(() => path);
  const leadsThere = isWithin(dataFolder, real) || isWithin(real, dataFolder);
  // /proc/<pid>/root and /proc/<pid>/environ give access to every file and secret of the user.
  if (!leadsThere && !/^\/proc(\/(self|thread-self|\d+)(\/.*)?)?$/.test(path)) return;
  throw new MantelError(
    "invalid",
    `the manifest of ${id} asks for the folder ${path}, which gives access to the host's own data; name only the folders that the plugin needs`,
  );
}

/** Flags that let a process read and write these folders. */
async function grants(paths: Record<"read" | "write", readonly string[]>): Promise<string[]> {
  const flagsFor = async (access: "read" | "write"): Promise<string[]> =>
    (await patternsOf(paths[access])).map((pattern) => `--allow-fs-${access}=${pattern}`);
  return [...(await flagsFor("read")), ...(await flagsFor("write"))];
}

/** Node 20 aborts with a failed assertion if a path is given twice, so only the outermost paths are given. */
async function patternsOf(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  const all = [...new Set([...paths, ...real])];
  const isOutermost = (path: string) => !all.some((each) => each !== path && isWithin(path, each));
  return Promise.all(all.filter(isOutermost).map(patternOf));
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
