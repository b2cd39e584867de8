import { join } from "node:path";
import { countRunnable, procFile, procListing, TICK_MS } from "../procfs.ts";

/** A thread at one moment, as the kernel counts it. */
export interface ThreadSample {
  /** `R` runs or waits for a CPU, `D` waits for a disk, `S` sleeps, `T` is stopped (proc(5)). */
  readonly state: string;
  /** Time on a CPU so far. */
  readonly ranMs: number;
  /** Time it was ready and waited for a CPU so far, without a wait that still lasts. */
  readonly waitedMs: number;
}

/** A process at one moment. */
export interface ProcessSample {
  /** Monotonic, in ms. */
  readonly at: number;
  readonly main: ThreadSample;
  /** Its other threads by id. */
  readonly threads: ReadonlyMap<number, ThreadSample>;
  /** The main threads of its child processes by id. */
  readonly children: ReadonlyMap<number, ThreadSample>;
  /** The system call in which the main thread sleeps: its number (syscall(2)). Undefined if it is not known. */
  readonly syscall: number | undefined;
  /** Threads of this machine that run or wait for a CPU. */
  readonly runnable: number;
}

const MS = 1e6;
/** The most threads and child processes of one process that are read. */
const MOST_READ = 64;

/** A sample of a process from `/proc`. Without `/proc` all times are 0. */
export function sampleProcess(pid: number, at = performance.now()): ProcessSample {
  const threads = procListing(`${pid}/task`).map(Number);
  const children = procFile(`${pid}/task/${pid}/children`).match(/\d+/g) ?? [];
  const syscall = Number.parseInt(procFile(`${pid}/syscall`), 10);
  return {
    at,
    main: sampleThread(`${pid}/task/${pid}`),
    threads: sampleThreads(
      threads.filter((id) => id !== pid),
      `${pid}/task`,
    ),
    children: sampleThreads(children.map(Number), ""),
    syscall: Number.isNaN(syscall) ? undefined : syscall,
    runnable: countRunnable(),
  };
}

/** The time for which the main thread of a process was ready and waited for a CPU so far; 0 if it is not known. */
export function waitedForCpuMs(pid: number): number {
  return sampleThread(`${pid}/task/${pid}`).waitedMs;
}

function sampleThreads(ids: readonly number[], folder: string): Map<number, ThreadSample> {
  return new Map(ids.slice(0, MOST_READ).map((id) => [id, sampleThread(join(folder, `${id}`))]));
}

/** proc(5): fields 3, 14 and 15 of `stat` are the state and the CPU time; `schedstat` has nanoseconds. */
function sampleThread(folder: string): ThreadSample {
  const stat = procFile(`${folder}/stat`);
  const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [ran = 0, waited = 0] = procFile(`${folder}/schedstat`).split(" ").map(Number);
  if (ran > 0) return { state, ranMs: ran / MS, waitedMs: waited / MS };
  const ticks = Number(fields[10] ?? 0) + Number(fields[11] ?? 0); // a kernel without scheduler statistics
  return { state, ranMs: ticks * TICK_MS, waitedMs: 0 };
}
