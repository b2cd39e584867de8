import { existsSync, readdirSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";

/** A tick of the system's clock for processes (sysconf(3), _SC_CLK_TCK) on every Linux. */
export const TICK_MS = 10;
/** The most processes examined, the newest first: those of a fork bomb are among them. */
const MOST_LOOKED_AT = 1_000;

/** The state of a process (proc(5)). Without `/proc` all fields are 0 or empty. */
export interface ProcessState {
  /** `R` runs or waits for a CPU, `D` waits for a disk, `S` sleeps, `T` is stopped. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** CPU time so far: its own, and that of children it has waited for. */
  readonly cpuMs: number;
}

export function readProcess(pid: number): ProcessState {
  const stat = procFile(`${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // a name may contain brackets
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  const [state = "", parent = 0, group = 0] = fields;
  return { state, parent: Number(parent), group: Number(group), cpuMs: ticks * TICK_MS };
}

/** The private memory of a process, and the number of descriptor slots allocated for it so far. */
export function readMemoryAndDescriptors(pid: number): {
  memoryBytes: number;
  descriptors: number;
} {
  const status = procFile(`${pid}/status`);
  const number = (pattern: RegExp) => Number(pattern.exec(status)?.[1] ?? 0);
  return {
    memoryBytes: number(/^RssAnon:\s+(\d+) kB$/m) * 1024,
    descriptors: number(/^FDSize:\s+(\d+)$/m),
  };
}

/** The number of threads in the whole system. This is cheap, unlike examining each process. */
export function countThreads(): number {
  return Number(/\/(\d+) /.exec(procFile("loadavg"))?.[1] ?? 0);
}

/** The number of threads in the whole system that run or wait for a CPU. */
export function countRunnable(): number {
  return Number(/ (\d+)\//.exec(procFile("loadavg"))?.[1] ?? 0);
}

/** Counts of processes now, by process group and by their namespace (pid_namespaces(7)). */
export interface ProcessCounts {
  readonly groups: ReadonlyMap<number, number>;
  readonly namespaces: ReadonlyMap<string, number>;
}

export function countProcesses(): ProcessCounts {
  const groups = new Map<number, number>();
  const namespaces = new Map<string, number>();
  for (const pid of newestProcesses()) {
    const { group, state } = readProcess(pid);
    if (state === "Z") continue;
    const namespace = namespaceOf(pid);
    groups.set(group, (groups.get(group) ?? 0) + 1);
    namespaces.set(namespace, (namespaces.get(namespace) ?? 0) + 1);
  }
  return { groups, namespaces };
}

/** The pid namespace of a process; empty if it cannot be read. */
export function namespaceOf(pid: number | "self"): string {
  return linkOf(`${pid}/ns/pid`);
}

/** The highest process ids of this machine, up to a limit; they most often started last. */
export function newestProcesses(): number[] {
  const pids = procListing("")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.toSorted((a, b) => a - b).slice(-MOST_LOOKED_AT); // Node lists names in the order of the alphabet
}

/** The environment that a process was started with, each variable behind a NUL. Only native code can change it. */
export function readEnvironment(pid: number): string {
  return `\0${procFile(`${pid}/environ`, "latin1")}`;
}

/** Paths of the files that this process has open. */
export function openFiles(pid: number): string[] {
  const paths = procListing(`${pid}/fd`).map((fd) => linkOf(`${pid}/fd/${fd}`));
  return paths.filter((path) => /^\/(?!dev\/(?!shm\/)|proc\/)/.test(path));
}

/** Files on a disk that this process has open and that were deleted. */
export function deletedFiles(pid: number): Stats[] {
  return procListing(`${pid}/fd`).flatMap((fd) => {
    const path = linkOf(`${pid}/fd/${fd}`);
    if (!path.endsWith(" (deleted)") || /^\/(?:dev\/|memfd:)/.test(path)) return [];
    try {
      return [statSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // it was closed just now
    }
  });
}

/** The names in a folder of `/proc`; empty for a process that has ended. */
export function procListing(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`);
  } catch {
    return []; // the process has ended, or this system has no /proc
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(`/proc/${path}`);
  } catch {
    return ""; // it was closed just now
  }
}

/** The first child of a process, if it has one. */
export function findChild(parent: number): number | undefined {
  const list = `${parent}/task/${parent}/children`;
  const [listed] = procFile(list).split(" ");
  if (listed) return Number(listed);
  if (existsSync(`/proc/${list}`)) return undefined; // it has no child yet
  return newestProcesses().find((pid) => readProcess(pid).parent === parent); // kernels without that list
}

/** The text of a file of `/proc`; empty for a process that has ended. */
export function procFile(path: string, encoding: BufferEncoding = "utf8"): string {
  try {
    return readFileSync(`/proc/${path}`, encoding);
  } catch {
    return ""; // the process has ended, or this system has no /proc
  }
}
