import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import { FLOOD_MESSAGE } from "./channel.ts";
import type { PluginProcess } from "./plugin-process.ts";
import { type ProcessState, readMemoryAndDescriptors, readProcess } from "./procfs.ts";
import { type StorageFigures, storageFiguresOf } from "./storage-limit.ts";

const BEAT_MS = 500;

/** Current resource usage of a generation. */
export interface ResourceUsage extends StorageFigures {
  readonly cpuPercent: number;
  /** Private memory of the process (not shared with others), in bytes. */
  readonly memoryBytes: number;
  readonly heapBytes: number;
  readonly loopLagP99Ms: number;
}

/** Called with the current resource usage of a generation. */
export type OnResourceUsage = (figures: ResourceUsage) => void;

/** Checks twice a second that a generation answers, and kills one that hangs. */
export class Heartbeat {
  readonly #generation: PluginProcess;
  readonly #onFigures: OnResourceUsage;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #lastSign = performance.now();
  #lastCpu: { readonly micros: number; readonly at: number } | undefined;

  constructor(generation: PluginProcess, onFigures: OnResourceUsage) {
    this.#generation = generation;
    this.#onFigures = onFigures;
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
    const { figures, silence } = await checkAlive(this.#generation);
    if (figures) this.#reportFigures(figures);
    if (this.#isStopped) return;
    if (silence === undefined) this.#schedule();
    else await this.#generation.end(silence, this.#lastSign);
  }

  #reportFigures({ cpuMicros, heapBytes, loopLagP99Ms }: ProcessFigures): void {
    const at = performance.now();
    this.#lastSign = at;
    const last = this.#lastCpu ?? { micros: cpuMicros, at: at - BEAT_MS };
    this.#lastCpu = { micros: cpuMicros, at };
    if (this.#isStopped) return;
    this.#onFigures({
      cpuPercent: rounded((cpuMicros - last.micros) / (at - last.at) / 10),
      memoryBytes: readMemoryAndDescriptors(this.#generation.pid).memoryBytes,
      heapBytes,
      loopLagP99Ms: rounded(loopLagP99Ms),
      ...storageFiguresOf(this.#generation),
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A process that uses the CPU or sleeps, and does not answer, counts as hung after this time. */
const SILENCE_MS = 1_000;
const AGAIN_MS = 250;
/** On a busy machine a silent process may be waiting for CPU time; it is not killed before this. */
const STARVED_MS = 5_000;
/** An answer may wait unread in the host's own channel when the host was busy. */
const GRACE_MS = 50;
/** With a heap this full, the process spends all its time on garbage collection. */
const NEARLY_FULL = 0.9;
/** Garbage collection also runs in other threads, while the main thread sleeps and waits for them. */
const COLLECTING_MS = 100;
/**
 * A process with little CPU time on a busy machine may also seem to sleep, while it waits for its other threads.
 */
const IDLE_SHARE = 0.1;

/** The liveness of a process: an answer, or the reason for its silence. Neither if it is debugged. */
export interface LivenessResult {
  readonly figures?: ProcessFigures;
  readonly silence?: string;
}

/** Checks that a generation is alive; resolves when it has answered or counts as hung. */
export async function checkAlive(generation: PluginProcess): Promise<LivenessResult> {
  const { peer, pid, inspectPort } = generation;
  const before = readProcess(pid);
  let last = before;
  const askedAt = performance.now();
  const answer = peer.call("ping", {}, STARVED_MS).catch(() => undefined);
  for (let waitMs = SILENCE_MS; (await soon(answer, waitMs)) === "silent"; waitMs = AGAIN_MS) {
    if ((await soon(answer, GRACE_MS)) !== "silent") break;
    if (inspectPort !== undefined) return {}; // a debugger may have paused it
    const now = readProcess(pid);
    const isIdle = now.state === "S" && now.cpuMs - last.cpuMs < waitMs * IDLE_SHARE;
    const cause = findSilenceCause(generation, now, { usedMs: now.cpuMs - before.cpuMs, isIdle });
    last = now;
    const silentMs = Math.round(performance.now() - askedAt);
    if (cause !== undefined) return { silence: `it did not answer for ${silentMs} ms${cause}` };
  }
  const figures = await answer;
  if (!figures) return { silence: `it did not answer for ${STARVED_MS} ms` };
  if (!Object.values(figures).every(Number.isFinite))
    return { silence: "it sent invalid usage figures" };
  return { figures };
}

/** The cause of a silence. `undefined` for a process that waits for a CPU or a disk: it is late and not hung. */
function findSilenceCause(
  { pid, isFlooding, hasUnread, isPrinting, settings }: PluginProcess,
  now: ProcessState,
  { usedMs, isIdle }: { usedMs: number; isIdle: boolean },
): string | undefined {
  if (now.state === "T") return ": a signal (SIGSTOP) has stopped it";
  if (isFlooding) return `: ${FLOOD_MESSAGE}`;
  if (hasUnread) return undefined; // its answer may be among the unread messages
  if (isPrinting) return ": it waits for the host to read its output; print less";
  if (usedMs > COLLECTING_MS && isNearlyFull(pid, settings.memoryMiB)) {
    return `: its heap is full and it only collects garbage; keep less in memory, or raise "limits.memoryMiB"`;
  }
  if (usedMs < SILENCE_MS / 2) {
    return isIdle
      ? ", asleep: a synchronous call such as execSync blocks it; use the asynchronous one"
      : undefined;
  }
  return ` and used ${usedMs} ms of CPU: look for an endless loop, regular expression or chain of promises`;
}

/** Resolves with the answer, or with `"silent"` after `ms`. */
async function soon<T>(answer: Promise<T>, ms: number): Promise<T | "silent"> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<"silent">((resolve) => {
    timer = setTimeout(resolve, ms, "silent");
  });
  return Promise.race([answer, silent]).finally(() => clearTimeout(timer));
}

function isNearlyFull(pid: number, memoryMiB: number): boolean {
  return readMemoryAndDescriptors(pid).memoryBytes > memoryMiB * 2 ** 20 * NEARLY_FULL;
}
