import { readFileSync } from "node:fs";
import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
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
  readonly onFigures: (figures: Figures) => void;
  /** Called once, with the cause for people, when the generation must be ended. */
  readonly onUnhealthy: (cause: string) => void;
}

/** Asks a generation for a sign of life twice a second and reads what it uses, until stopped. */
export class HealthWatch {
  readonly #generation: Generation;
  readonly #report: HealthReport;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #lastCpu: { readonly micros: number; readonly at: number } | undefined;

  constructor(generation: Generation, report: HealthReport) {
    this.#generation = generation;
    this.#report = report;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#beat(), BEAT_MS);
  }

  async #beat(): Promise<void> {
    const cause = excess(this.#generation) ?? (await this.#silence());
    if (this.#isStopped) return;
    if (cause === undefined) this.#schedule();
    else this.#report.onUnhealthy(cause);
  }

  /** Why a generation that does not answer must be ended; `undefined` when it answers. */
  async #silence(): Promise<string | undefined> {
    const { peer, pid } = this.#generation;
    const before = cpuMillis(pid);
    const answer = peer.call("ping", {}, STARVED_MS).catch(() => undefined);
    if ((await Promise.race([answer, quiet(SILENCE_MS)])) === "quiet") {
      const usedMs = cpuMillis(pid) - before;
      if (usedMs >= SILENCE_MS / 2) {
        return `it did not answer for ${SILENCE_MS} ms and used ${usedMs} ms of CPU: an endless loop?`;
      }
    }
    const figures = await answer;
    if (figures) this.#tell(figures);
    else return `it did not answer for ${STARVED_MS} ms: something blocks its event loop`;
    return undefined;
  }

  #tell({ cpuMicros, heapBytes, loopLagP99Ms }: ProcessFigures): void {
    const at = performance.now();
    const last = this.#lastCpu ?? { micros: cpuMicros, at: at - BEAT_MS };
    this.#lastCpu = { micros: cpuMicros, at };
    if (this.#isStopped) return;
    this.#report.onFigures({
      cpuPercent: rounded((cpuMicros - last.micros) / (at - last.at) / 10),
      memoryBytes: ownMemory(this.#generation.pid),
      heapBytes,
      loopLagP99Ms: rounded(loopLagP99Ms),
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
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
