import { readdirSync, readFileSync } from "node:fs";

/** A tick of the system's clock for processes (sysconf(3), _SC_CLK_TCK) on every Linux. */
const TICK_MS = 10;
/** Of very many processes the newest are looked at: those of a fork bomb are among them. */
const MOST_LOOKED_AT = 1_000;

/** What the system says of a process (proc(5)). Without `/proc` all of it is 0 or empty. */
export interface ProcessState {
  /** `R` runs or waits for a CPU, `D` waits for a disk, `S` sleeps, `T` is stopped. */
  readonly state: string;
  readonly group: number;
  /** Time on a CPU so far: its own, and that of children it has waited for. */
  readonly cpuMs: number;
}

export function readProcess(pid: number): ProcessState {
  const stat = procFile(`${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // a name may hold brackets
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return { state: fields[0] ?? "", group: Number(fields[2] ?? 0), cpuMs: ticks * TICK_MS };
}

/** Memory that only this process holds, and for how many descriptors it has asked so far. */
export function readHoldings(pid: number): { memoryBytes: number; descriptors: number } {
  const status = procFile(`${pid}/status`);
  const number = (pattern: RegExp) => Number(pattern.exec(status)?.[1] ?? 0);
  return {
    memoryBytes: number(/^RssAnon:\s+(\d+) kB$/m) * 1024,
    descriptors: number(/^FDSize:\s+(\d+)$/m),
  };
}

/** The number of threads in the whole system. It costs little, unlike a look at each process. */
export function countThreads(): number {
  return Number(/\/(\d+) /.exec(procFile("loadavg"))?.[1] ?? 0);
}

/** How many processes each process group has now. */
export function countGroups(): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const pid of newestProcesses()) {
    const { group, state } = readProcess(pid);
    if (state !== "Z") counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}

/** Ids of the processes of this machine; of very many, the highest, which most often started last. */
export function newestProcesses(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .slice(-MOST_LOOKED_AT)
      .map(Number);
  } catch {
    return []; // this system has no /proc
  }
}

function procFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return ""; // the process has ended, or this system has no /proc
  }
}
