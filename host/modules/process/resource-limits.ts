import { lookRegularly } from "./looks.ts";
import { type PluginProcess, NON_HEAP_MEMORY_MIB } from "./plugin-process.ts";
import {
  countProcesses,
  countThreads,
  namespaceOf,
  type ProcessCounts,
  readMemoryAndDescriptors,
  readProcess,
} from "./procfs.ts";

const CPU_WINDOW_MS = 30_000;
/** The system allocates descriptors in powers of two, so this means more than 4,096. */
const DESCRIPTORS = 4_096;
/** The most processes of one module, and the growth of the whole system at which they are counted. */
const PROCESSES = 64;
const GROWTH_TO_COUNT_AT = 32;

/**
 * Kills a generation that exceeds its limits by the system's own figures, from now until its end.
 * It needs no cooperation of the process, so it also works during a start and for code that does not answer.
 */
export function watchResourceLimits(generation: PluginProcess): void {
  const cpu = new CpuUse(CPU_WINDOW_MS);
  let lastCpuMs: number | undefined;
  const look = (turn: number): void => {
    const { cpuMs, group } = readProcess(generation.pid);
    const usedMs = cpu.add(cpuMs, performance.now());
    const hasRun = cpuMs === 0 || cpuMs !== lastCpuMs; // otherwise it has hardly more memory than at the last look
    lastCpuMs = cpuMs;
    const cause =
      (hasRun ? excessOfMemoryAndDescriptors(generation) : undefined) ??
      excessOfCpu(usedMs, generation.settings.cpuPercent) ??
      excessOfProcesses(generation.pid, group, turn);
    if (cause !== undefined) void generation.end(cause);
  };
  void generation.exited.then(lookRegularly(look));
}

/** The CPU time of a process within the last `windowMs`. */
export class CpuUse {
  readonly #windowMs: number;
  readonly #samples: { readonly cpuMs: number; readonly at: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Records the CPU time used so far, and returns that of the window, or of the part seen so far. */
  add(cpuMs: number, at: number): number {
    this.#samples.push({ cpuMs, at });
    while (at - (this.#samples[0]?.at ?? at) > this.#windowMs) this.#samples.shift();
    return cpuMs - (this.#samples[0]?.cpuMs ?? cpuMs);
  }
}

function excessOfMemoryAndDescriptors({ pid, settings }: PluginProcess): string | undefined {
  const { memoryBytes, descriptors } = readMemoryAndDescriptors(pid);
  const usedMiB = Math.round(memoryBytes / 2 ** 20);
  const limitMiB = settings.memoryMiB + NON_HEAP_MEMORY_MIB;
  if (usedMiB > limitMiB) {
    return `memory limit exceeded: it used ${usedMiB} MiB of ${limitMiB} MiB; look for buffers that it keeps, or raise "limits.memoryMiB"`;
  }
  if (descriptors <= DESCRIPTORS) return undefined;
  return `it had more than ${DESCRIPTORS} files and sockets open: close what it opens`;
}

/**
 * The reason why the CPU limit is exceeded. A process that used up the limit of a whole window is stopped before
 * the window ends.
 */
function excessOfCpu(usedMs: number, percent: number): string | undefined {
  const limitMs = (CPU_WINDOW_MS * percent) / 100;
  if (usedMs <= limitMs) return undefined;
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  return `CPU limit exceeded: it used ${seconds(usedMs)} of CPU time within ${seconds(CPU_WINDOW_MS)}, and ${percent} % (${seconds(limitMs)}) is its limit; let it do less, or raise "limits.cpuPercent"`;
}

/** Counts of processes. Counting is expensive, so it is done only when the whole system has grown. */
class Counted {
  readonly #hostNamespace = namespaceOf("self");
  /** The fewest threads of the system since its processes were counted. */
  #threads = 0;
  #turn = 0;
  #hasGrown = false;
  #counts: ProcessCounts = { groups: new Map(), namespaces: new Map() };
  /** True if any sandbox or group had too many processes when they were counted. */
  #hasExcess = false;

  /** True if a sandbox, or a process group without one, has too many processes: a program may leave its group. */
  hasTooMany(pid: number, group: number, turn: number): boolean {
    if (turn !== this.#turn) this.#readThreads();
    this.#turn = turn;
    if (!this.#hasExcess || this.countOf(pid, group) <= PROCESSES) return false;
    if (!this.#hasGrown) this.#count(); // the kernel soon uses the id of a sandbox that has ended for another one
    return this.countOf(pid, group) > PROCESSES;
  }

  /** Counts all processes if the system has grown; once a turn. */
  #readThreads(): void {
    const threads = countThreads();
    this.#hasGrown = threads > this.#threads + GROWTH_TO_COUNT_AT;
    if (this.#hasGrown) this.#count();
    this.#threads = this.#hasGrown ? threads : Math.min(this.#threads, threads);
  }

  #count(): void {
    this.#counts = countProcesses();
    const { groups, namespaces } = this.#counts;
    const all = [...groups.values(), ...namespaces.values()];
    this.#hasExcess = all.some((count) => count > PROCESSES);
  }

  countOf(pid: number, group: number): number {
    const { groups, namespaces } = this.#counts;
    const namespace = namespaceOf(pid);
    const isSandbox = namespace !== "" && namespace !== this.#hostNamespace;
    return (isSandbox ? namespaces.get(namespace) : groups.get(group)) ?? 0;
  }
}

/** One count serves all modules. */
const counted = new Counted();

/** Group 0 is that of the kernel's threads. */
function excessOfProcesses(pid: number, group: number, turn: number): string | undefined {
  if (group === 0 || !counted.hasTooMany(pid, group, turn)) return undefined;
  return `process limit exceeded: it had ${counted.countOf(pid, group)} processes, and ${PROCESSES} are allowed; look for a fork bomb`;
}
