import type { Generation } from "./generation.ts";
import { countGroups, countThreads, readHoldings, readProcess } from "./proc.ts";

const LOOK_MS = 250;
/** What a process may use besides its heap: Node itself, code and buffers. */
const BESIDES_HEAP_MIB = 128;
const CPU_WINDOW_MS = 30_000;
/** The system gives room for descriptors in powers of two, so this is room for more than 4,096. */
const DESCRIPTORS = 4_096;
/** Processes of one module, and the growth of the whole system at which they are counted. */
const PROCESSES = 64;
const GROWTH_TO_COUNT_AT = 32;

/** What a generation may use. */
export interface UseLimits {
  /** Share of one CPU over half a minute, in percent. */
  readonly cpuPercent: number;
}

/**
 * Ends a generation that uses more than it may, by the system's own figures, from now until its end.
 * It needs no help of the process, so it holds during a start and for code that does not answer too.
 */
export function watchExcess(generation: Generation, limits: UseLimits): void {
  const cpu = new CpuShare(CPU_WINDOW_MS);
  const look = (): void => {
    const { cpuMs } = readProcess(generation.pid);
    const share = cpu.add(cpuMs, performance.now());
    const cause =
      excessOfHoldings(generation) ??
      excessOfCpu(share, limits.cpuPercent) ??
      excessOfProcesses(generation.pid);
    if (cause !== undefined) void generation.end(cause);
  };
  const timer = setInterval(look, LOOK_MS);
  void generation.exited.then(() => clearInterval(timer));
}

/** The share of one CPU that a process has had over the last `windowMs`. */
export class CpuShare {
  readonly #windowMs: number;
  #samples: { readonly cpuMs: number; readonly at: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Takes CPU time used so far, and gives percent; `undefined` until a whole window was seen. */
  add(cpuMs: number, at: number): number | undefined {
    this.#samples.push({ cpuMs, at });
    const begin = this.#samples.findLastIndex((sample) => at - sample.at >= this.#windowMs);
    if (begin > 0) this.#samples = this.#samples.slice(begin);
    const first = this.#samples[0];
    if (begin === -1 || !first) return undefined;
    return ((cpuMs - first.cpuMs) / (at - first.at)) * 100;
  }
}

function excessOfHoldings({ pid, settings }: Generation): string | undefined {
  const { memoryBytes, descriptors } = readHoldings(pid);
  const usedMiB = Math.round(memoryBytes / 2 ** 20);
  const limitMiB = settings.memoryMiB + BESIDES_HEAP_MIB;
  if (usedMiB > limitMiB) {
    return `it used ${usedMiB} MiB of memory, and ${limitMiB} MiB is its limit: look for buffers that it keeps, or raise "limits.memoryMiB"`;
  }
  if (descriptors <= DESCRIPTORS) return undefined;
  return `it had more than ${DESCRIPTORS} files and sockets open: close what it opens`;
}

function excessOfCpu(percent: number | undefined, limit: number): string | undefined {
  if (percent === undefined || percent <= limit) return undefined;
  const seconds = CPU_WINDOW_MS / 1_000;
  return `it used ${Math.round(percent)} % of a CPU for ${seconds} s, and ${limit} % is its limit: let it do less, or raise "limits.cpuPercent"`;
}

/** Sizes of process groups. Counting them is dear, so it is done when the whole system has grown. */
class GroupSizes {
  #threads = 0;
  #sizes: ReadonlyMap<number, number> = new Map();

  of(group: number): number {
    const threads = countThreads();
    if (threads > this.#threads + GROWTH_TO_COUNT_AT) {
      this.#sizes = countGroups();
      this.#threads = threads;
    }
    this.#threads = Math.min(this.#threads, threads);
    return this.#sizes.get(group) ?? 0;
  }
}

/** One count serves all modules. */
const groupSizes = new GroupSizes();

function excessOfProcesses(group: number): string | undefined {
  const processes = groupSizes.of(group);
  if (processes <= PROCESSES) return undefined;
  return `it had ${processes} processes running, and ${PROCESSES} are allowed: a fork bomb?`;
}
