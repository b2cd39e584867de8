import { readFileSync } from "node:fs";
import type { Generation } from "./generation.ts";

const BEAT_MS = 500;
/** A process that computes and does not answer is hung after this long. */
const SILENCE_MS = 1_000;
/** A process that does not answer and does not compute either may only be short of a CPU until then. */
const STARVED_MS = 5_000;
/** What a process may use besides its heap: Node itself, code and buffers. */
const BESIDES_HEAP_MIB = 128;

/** What a generation uses now. */
export interface Figures {
  readonly cpuPercent: number;
  /** Memory that is the process's own (not shared with others), in bytes. */
  readonly memoryBytes: number;
  readonly heapBytes: number;
  readonly loopLagP99Ms: number;
}

export interface HealthReport {
  onFigures(figures: Figures): void;
  /** Called once, with the cause for people, when the generation must be ended. */
  onUnhealthy(cause: string): void;
}

/** Asks a generation for a sign of life twice a second and reads what it uses, until stopped. */
export function watchHealth(generation: Generation, report: HealthReport): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lastCpu: { micros: number; at: number } | undefined;

  const beat = async (): Promise<void> => {
    const cause = excess(generation) ?? (await silence(generation));
    if (stopped) return;
    if (cause !== undefined) report.onUnhealthy(cause);
    else timer = setTimeout(() => void beat(), BEAT_MS);
  };

  const silence = async (of: Generation): Promise<string | undefined> => {
    const cpuBefore = cpuMillis(of.pid);
    const answer = of.peer.call("ping", {}, STARVED_MS).then(
      (figures) => figures,
      () => undefined,
    );
    const inTime = await Promise.race([answer, quiet(SILENCE_MS)]);
    if (inTime === "quiet") {
      const used = cpuMillis(of.pid) - cpuBefore;
      if (used >= SILENCE_MS / 2) return `it did not answer for ${SILENCE_MS} ms and used ${used} ms of CPU: an endless loop?`;
    }
    const figures = await answer;
    if (stopped) return undefined;
    if (!figures) return `it did not answer for ${STARVED_MS} ms: something blocks its event loop`;
    const at = performance.now();
    const cpuPercent = lastCpu ? (figures.cpuMicros - lastCpu.micros) / (at - lastCpu.at) / 10 : 0;
    lastCpu = { micros: figures.cpuMicros, at };
    report.onFigures({
      cpuPercent: Math.max(0, Math.round(cpuPercent * 10) / 10),
      memoryBytes: ownMemory(of.pid),
      heapBytes: figures.heapBytes,
      loopLagP99Ms: Math.round(figures.loopLagP99Ms * 10) / 10,
    });
    return undefined;
  };

  timer = setTimeout(() => void beat(), BEAT_MS);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function quiet(ms: number): Promise<"quiet"> {
  return new Promise((resolve) => setTimeout(resolve, ms, "quiet").unref());
}

function excess({ pid, memoryMiB }: Generation): string | undefined {
  const usedMiB = Math.round(ownMemory(pid) / 2 ** 20);
  const limitMiB = memoryMiB + BESIDES_HEAP_MIB;
  if (usedMiB <= limitMiB) return undefined;
  return `it used ${usedMiB} MiB of memory, and ${limitMiB} MiB is its limit`;
}

/** Memory that only this process holds, as the system tells (proc(5), RssAnon); 0 when it does not. */
function ownMemory(pid: number): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(procFile(pid, "status")) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

/** CPU time of the process so far, in milliseconds (proc(5), utime and stime in ticks of 10 ms). */
function cpuMillis(pid: number): number {
  const stat = procFile(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // the process has ended, or this system has no /proc
  }
}
