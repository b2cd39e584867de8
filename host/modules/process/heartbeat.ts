import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import { untilTurnMs } from "./looks.ts";
import { checkAlive } from "./monitor/liveness.ts";
import type { PluginProcess } from "./plugin-process.ts";
import { readMemoryAndDescriptors } from "./procfs.ts";
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

/** Called with the current resource usage of a generation; `mayRest` is true if it has nothing to do. */
export type OnResourceUsage = (figures: ResourceUsage, mayRest: boolean) => void;

/** Checks twice a second that a generation answers, and kills one that hangs. */
export class Heartbeat {
  readonly #generation: PluginProcess;
  readonly #onUsage: OnResourceUsage;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #lastSign = performance.now();
  #lastCpu: { readonly micros: number; readonly at: number } | undefined;

  constructor(generation: PluginProcess, onUsage: OnResourceUsage) {
    this.#generation = generation;
    this.#onUsage = onUsage;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#beat(), untilTurnMs(BEAT_MS));
  }

  async #beat(): Promise<void> {
    const { figures, silence } = await checkAlive(this.#generation);
    if (figures) this.#reportFigures(figures);
    if (this.#isStopped) return;
    if (silence === undefined) this.#schedule();
    else await this.#generation.end(silence, this.#lastSign);
  }

  #reportFigures({ cpuMicros, heapBytes, loopLagP99Ms, mayRest }: ProcessFigures): void {
    const at = performance.now();
    this.#lastSign = at;
    const last = this.#lastCpu ?? { micros: cpuMicros, at: at - BEAT_MS };
    this.#lastCpu = { micros: cpuMicros, at };
    if (this.#isStopped) return;
    const figures = {
      cpuPercent: rounded((cpuMicros - last.micros) / (at - last.at) / 10),
      memoryBytes: readMemoryAndDescriptors(this.#generation.pid).memoryBytes,
      heapBytes,
      loopLagP99Ms: rounded(loopLagP99Ms),
      ...storageFiguresOf(this.#generation),
    };
    this.#onUsage(figures, mayRest);
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
