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

/**
 * Ends a generation that uses more than it may, by the system's own figures, from now until its end.
 * It needs no help of the process, so it holds during a start and for code that does not answer too.
 */
export function watchExcess(generation: Generation): void {
  const cpu = new CpuUse(CPU_WINDOW_MS);
  const look = (): void => {
    const { cpuMs } = readProcess(generation.pid);
    const usedMs = cpu.add(cpuMs, performance.now());
    const cause =
      excessOfHoldings(generation) ??
      excessOfCpu(usedMs, generation.settings.cpuPercent) ??
      excessOfProcesses(generation.pid);
    if (cause !== undefined) void generation.end(cause);
  };
  const timer = setInterval(look, LOOK_MS);
  void generation.exited.then(() => clearInterval(timer));
}

/** The CPU time that a process has had within the last `windowMs`. */
export class CpuUse {
  readonly #windowMs: number;
  #samples: { readonly cpuMs: number; readonly at: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Takes the CPU time used so far, and gives that of the window, or of what was seen of it yet. */
  add(cpuMs: number, at: number): number {
    this.#samples.push({ cpuMs, at });
    this.#samples = this.#samples.filter((sample) => at - sample.at <= this.#windowMs);
    return cpuMs - (this.#samples[0]?.cpuMs ?? cpuMs);
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

/** What used up the limit of a whole window cannot come back below it, so nobody waits for its end. */
function excessOfCpu(usedMs: number, percent: number): string | undefined {
  const limitMs = (CPU_WINDOW_MS * percent) / 100;
  if (usedMs <= limitMs) return undefined;
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  return `it used ${seconds(usedMs)} of CPU time within ${seconds(CPU_WINDOW_MS)}, and ${percent} % (${seconds(limitMs)}) is its limit: let it do less, or raise "limits.cpuPercent"`;
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
