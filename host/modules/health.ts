import { readFileSync } from "node:fs";
import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import type { Generation } from "./generation.ts";

const BEAT_MS = 500;
/** A process that computes, or sleeps, and does not answer is hung after this long. */
const SILENCE_MS = 1_000;
/** A process that does not answer may only be short of a CPU until then. */
const STARVED_MS = 5_000;
/** An answer may lie unread in the host's own channel when the host was busy. */
const GRACE_MS = 50;
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
    const before = activity(pid);
    const answer = peer.call("ping", {}, STARVED_MS).catch(() => undefined);
    if (
      (await soon(answer, SILENCE_MS)) === "silent" &&
      (await soon(answer, GRACE_MS)) === "silent"
    ) {
      const cause = causeOfSilence(before, activity(pid));
      if (cause !== undefined) return cause;
    }
    const figures = await answer;
    if (figures) this.#tell(figures);
    else return `it did not answer for ${STARVED_MS} ms`;
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

/** What comes within `ms`, or `"silent"`. */
async function soon<T>(answer: Promise<T>, ms: number): Promise<T | "silent"> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<"silent">((resolve) => {
    timer = setTimeout(resolve, ms, "silent");
  });
  return Promise.race([answer, silent]).finally(() => clearTimeout(timer));
}

/** A process that waits for a CPU or a disk is late and not hung. */
function causeOfSilence(before: Activity, now: Activity): string | undefined {
  const usedMs = now.cpuMs - before.cpuMs;
  if (usedMs >= SILENCE_MS / 2) {
    return `it did not answer for ${SILENCE_MS} ms and used ${usedMs} ms of CPU: an endless loop?`;
  }
  if (now.state !== "S" && now.state !== "T") return undefined;
  return `it did not answer for ${SILENCE_MS} ms: a call that waits blocks its event loop`;
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

interface Activity {
  /** `R` runs or waits for a CPU, `D` waits for a disk, `S` sleeps, `T` is stopped (proc(5)). */
  readonly state: string;
  readonly cpuMs: number;
}

/** What the process does now, and its CPU time so far (proc(5), utime and stime in ticks of 10 ms). */
function activity(pid: number): Activity {
  const stat = procFile(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    state: fields[0] ?? "",
    cpuMs: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10,
  };
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // the process has ended, or this system has no /proc
  }
}
