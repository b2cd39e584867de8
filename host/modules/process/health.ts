import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import { FLOOD } from "./channel.ts";
import type { Generation } from "./generation.ts";
import { type ProcessState, readHoldings, readProcess } from "./proc.ts";

const BEAT_MS = 500;
/** A process that computes, or sleeps, and does not answer is hung after this long. */
const SILENCE_MS = 1_000;
const AGAIN_MS = 250;
/** A process that does not answer may only be short of a CPU until then. */
const STARVED_MS = 5_000;
/** An answer may lie unread in the host's own channel when the host was busy. */
const GRACE_MS = 50;
/** A heap this full leaves the process no time but for the collection of its garbage. */
const NEARLY_FULL = 0.9;
/** Collecting is done by other threads too, while the main one sleeps and waits for them. */
const COLLECTING_MS = 100;
/** One that gets little of a busy CPU may be seen asleep, too, while it waits for its other threads. */
const IDLE_SHARE = 0.1;

/** What a generation uses now. */
export interface Figures {
  readonly cpuPercent: number;
  /** Memory that is the process's own (not shared with others), in bytes. */
  readonly memoryBytes: number;
  readonly heapBytes: number;
  readonly loopLagP99Ms: number;
}

/** Hears what a generation uses now. */
export type HearFigures = (figures: Figures) => void;

/** Asks a generation for a sign of life twice a second, and ends one that gives none. */
export class HealthWatch {
  readonly #generation: Generation;
  readonly #onFigures: HearFigures;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #lastSign = performance.now();
  #lastCpu: { readonly micros: number; readonly at: number } | undefined;

  constructor(generation: Generation, onFigures: HearFigures) {
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
    const cause = await this.#silence();
    if (this.#isStopped) return;
    if (cause === undefined) this.#schedule();
    else await this.#generation.end(cause, this.#lastSign);
  }

  /** Why a generation that does not answer must be ended; `undefined` when it answers. */
  async #silence(): Promise<string | undefined> {
    const { peer, pid, inspectPort } = this.#generation;
    const before = readProcess(pid);
    let last = before;
    const askedAt = performance.now();
    const answer = peer.call("ping", {}, STARVED_MS).catch(() => undefined);
    for (let waitMs = SILENCE_MS; (await soon(answer, waitMs)) === "silent"; waitMs = AGAIN_MS) {
      if ((await soon(answer, GRACE_MS)) !== "silent") break;
      if (inspectPort !== undefined) return undefined; // a debugger may have paused it
      const now = readProcess(pid);
      const isIdle = now.state === "S" && now.cpuMs - last.cpuMs < waitMs * IDLE_SHARE;
      const cause = this.#causeOfSilence(now, { usedMs: now.cpuMs - before.cpuMs, isIdle });
      last = now;
      const silentMs = Math.round(performance.now() - askedAt);
      if (cause !== undefined) return `it did not answer for ${silentMs} ms${cause}`;
    }
    const figures = await answer;
    if (!figures) return `it did not answer for ${STARVED_MS} ms`;
    if (!Object.values(figures).every(Number.isFinite))
      return "it gave figures that are no numbers";
    this.#tell(figures);
    return undefined;
  }

  /** A process that waits for a CPU or a disk is late and not hung. */
  #causeOfSilence(
    now: ProcessState,
    { usedMs, isIdle }: { usedMs: number; isIdle: boolean },
  ): string | undefined {
    const { pid, isFlooding, isPrinting, settings } = this.#generation;
    if (now.state === "T") return ": a signal (SIGSTOP) has stopped it";
    if (isFlooding) return `: ${FLOOD}`;
    if (isPrinting) return ": it waits for the host to read all that it prints; print less";
    if (usedMs > COLLECTING_MS && isNearlyFull(pid, settings.memoryMiB)) {
      return `: its heap is full, and it only collects garbage; keep less, or raise "limits.memoryMiB"`;
    }
    if (usedMs < SILENCE_MS / 2) {
      return isIdle ? ", asleep: something like execSync blocks it; use what is async" : undefined;
    }
    return ` and used ${usedMs} ms of CPU: look for a loop, a regular expression or a chain of promises that does not end`;
  }

  #tell({ cpuMicros, heapBytes, loopLagP99Ms }: ProcessFigures): void {
    const at = performance.now();
    this.#lastSign = at;
    const last = this.#lastCpu ?? { micros: cpuMicros, at: at - BEAT_MS };
    this.#lastCpu = { micros: cpuMicros, at };
    if (this.#isStopped) return;
    this.#onFigures({
      cpuPercent: rounded((cpuMicros - last.micros) / (at - last.at) / 10),
      memoryBytes: readHoldings(this.#generation.pid).memoryBytes,
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

function isNearlyFull(pid: number, memoryMiB: number): boolean {
  return readHoldings(pid).memoryBytes > memoryMiB * 2 ** 20 * NEARLY_FULL;
}
