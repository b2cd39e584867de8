import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { seccompFilter } from "./seccomp.ts";

const PROBE_DEADLINE_MS = 10_000;
/** The user id of a plugin's process inside its namespace; outside it is the user who runs Mantel. */
const USER = 1_000;
/** The descriptors for the filter and for the sandbox's pid; 0 to 3 belong to the process. */
const FILTER_FD = 4;
export const INFO_FD = 5;

/** Folders with libraries; on most systems those at the root are links into `/usr`. */
const LIBRARY_FOLDERS = ["/usr/lib", "/usr/lib64", "/usr/lib32", "/nix/store"];
const ROOT_FOLDERS = ["/lib", "/lib64", "/lib32", "/bin", "/sbin"];
const FILTER_FILE = "seccomp.bpf";
/** Replacements for files of the machine, which plugins must not read. */
const ETC_FILES = {
  "etc/passwd": `mantel:x:${USER}:${USER}::/:/bin/false\n`,
  "etc/group": `mantel:x:${USER}:\n`,
  "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
};
/** Needed to resolve names on the machine's own network. */
const RESOLVER_FILES = [
  ...["/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"],
  ...["/etc/ssl/certs", "/etc/ca-certificates", "/usr/share/ca-certificates"],
];

/** The installed bubblewrap, and the files for each sandbox. */
export interface Bubblewrap {
  readonly program: string;
  /** The compiled system call filter. */
  readonly filter: Buffer;
  /** The folder with the filter and the replacements for files of `/etc`. */
  readonly folder: string;
}

/** The contents of a sandbox besides Node. Paths are absolute; missing ones are left out. */
export interface SandboxContents {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** True for the machine's own network; false for a network with only a loopback interface. */
  readonly hasOpenNetwork: boolean;
  /** True if the process may start programs of this machine. */
  readonly hasPrograms: boolean;
}

/** Bubblewrap, or the reason why the kernel does not confine plugins on this machine. */
export type KernelSupport =
  | { readonly bubblewrap: Bubblewrap; readonly reason: null }
  | { readonly bubblewrap: undefined; readonly reason: string; readonly remedy: string };

/** Finds bubblewrap, and tests it once with all features that a plugin's sandbox uses. */
export async function findKernelSupport(cacheFolder: string): Promise<KernelSupport> {
  const unsupported = (reason: string, remedy: string) => ({
    bubblewrap: undefined,
    reason,
    remedy,
  });
  if (process.platform !== "linux") {
    const reason = `kernel confinement needs Linux, and this is ${process.platform}`;
    return unsupported(reason, "run Mantel on Linux, or install only plugins that you trust");
  }
  const program = findProgram("bwrap");
  if (program === undefined) {
    return unsupported("bubblewrap is not installed", "apt-get install bubblewrap, then restart");
  }
  const filter = seccompFilter();
  if (!filter) {
    const reason = `Mantel has no system call filter for the processor ${process.arch}`;
    return unsupported(reason, "install only plugins that you trust");
  }
  const bubblewrap = { program, filter, folder: join(cacheFolder, "sandbox") };
  writeSandboxFiles(bubblewrap.folder, filter);
  const failure = await probe(bubblewrap);
  if (failure === undefined) return { bubblewrap, reason: null };
  return unsupported(...explain(failure));
}

/** The arguments of bubblewrap for a Node process; the command follows them. */
export function sandboxArguments(
  { folder }: Bubblewrap,
  { readable, writable, hasOpenNetwork, hasPrograms }: SandboxContents,
): string[] {
  const mounts = new Map<string, string[]>();
  const mount = (option: string) => (path: string) => {
    const source = realPathOf(path);
    if (source === undefined) return;
    for (const target of new Set([path, source])) mounts.set(target, [option, source, target]);
  };
  const system = hasPrograms ? ["/usr", "/nix/store"] : LIBRARY_FOLDERS;
  [...system, process.execPath].forEach(mount("--ro-bind"));
  // A package may be removed before bubblewrap starts; then its folder is left out, as one that was never there.
  readable.filter((path) => !isDevice(path)).forEach(mount("--ro-bind-try"));
  readable.filter(isDevice).forEach(mount("--dev-bind"));
  if (hasOpenNetwork || hasPrograms) RESOLVER_FILES.forEach(mount("--ro-bind"));
  mount("--ro-bind")("/etc/ld.so.cache");
  for (const name of Object.keys(ETC_FILES)) {
    mounts.set(`/${name}`, ["--ro-bind", join(folder, name), `/${name}`]);
  }
  if (hasOpenNetwork) mount("--ro-bind")("/etc/hosts");
  writable.forEach(mount("--bind"));
  const targets = [...mounts.keys()];
  // A link inside another mount is visible there, and its real target has its own mount.
  const isSeen = (target: string) => targets.some((each) => target.startsWith(`${each}/`));
  const needed = [...mounts.entries()].filter(
    ([target, [, source]]) => target === source || !isSeen(target),
  );
  const byDepth = needed.toSorted(([a], [b]) => depthOf(a) - depthOf(b));
  return [
    ...["--unshare-user", "--unshare-all", ...(hasOpenNetwork ? ["--share-net"] : [])],
    ...["--uid", String(USER), "--gid", String(USER), "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session"],
    ...["--seccomp", String(FILTER_FD), "--info-fd", String(INFO_FD)],
    ...["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],
    ...ROOT_FOLDERS.flatMap(rootFolder),
    ...byDepth.flatMap(([, arguments_]) => arguments_),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
  ];
}

/** Files in memory are not devices. */
function isDevice(path: string): boolean {
  return path.startsWith("/dev/") && !path.startsWith("/dev/shm/");
}

/** Arguments for a folder of the root as this system has it: a link, or a folder with libraries. */
function rootFolder(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return ["--ro-bind", path, path];
}

function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes the files for each sandbox. They are in the cache, which users may empty at any time. */
function writeSandboxFiles(folder: string, filter: Buffer): void {
  mkdirSync(join(folder, "etc"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, FILTER_FILE), filter);
  for (const [name, text] of Object.entries(ETC_FILES)) writeFileSync(join(folder, name), text);
}

/** Opens the filter for one sandbox, which reads it to its end. */
export function openFilter({ folder, filter }: Bubblewrap): number {
  const file = join(folder, FILTER_FILE);
  if (!existsSync(file)) writeSandboxFiles(folder, filter);
  return openSync(file, "r");
}

/** Starts Node in a sandbox; returns the reason if that fails. */
async function probe(bubblewrap: Bubblewrap): Promise<string | undefined> {
  const contents = { readable: [], writable: [], hasOpenNetwork: false, hasPrograms: false };
  const sandboxed = sandboxArguments(bubblewrap, contents);
  const script = `exec "$@" ${FILTER_FD}<"$MANTEL_FILTER" ${INFO_FD}>/dev/null`;
  const command = [bubblewrap.program, ...sandboxed, "--", process.execPath, "--version"];
  try {
    await promisify(execFile)("/bin/sh", ["-c", script, "sh", ...command], {
      timeout: PROBE_DEADLINE_MS,
      env: { ...process.env, MANTEL_FILTER: join(bubblewrap.folder, FILTER_FILE) },
    });
    return undefined;
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    return stderr.trim().split("\n").at(-1) || message;
  }
}

/** The reason and the remedy for a failure of bubblewrap. */
function explain(failure: string): [reason: string, remedy: string] {
  const isRefused = /namespace|not permitted|permission/i.test(failure);
  if (!isRefused) return [`bubblewrap failed: ${failure}`, "update the package bubblewrap"];
  if (isContainer()) {
    const options =
      "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined";
    const reason = `this container may not create namespaces: ${failure}`;
    return [reason, `start the container with ${options}; see docs/operations.md`];
  }
  return [
    `the system does not let this user create namespaces: ${failure}`,
    "sysctl -w kernel.unprivileged_userns_clone=1 on Debian, kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu; for a systemd service use docs/deploy/mantel.service",
  ];
}

function isContainer(): boolean {
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv");
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function depthOf(path: string): number {
  return path === dirname(path) ? 0 : 1 + depthOf(dirname(path));
}
