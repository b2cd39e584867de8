import type { ProcessFigures } from "@mantel/plugin-sdk/protocol";
import type { Generation } from "./generation.ts";
import { readHoldings } from "./proc.ts";
import { askForLife } from "./silence.ts";

const BEAT_MS = 500;

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
    const { figures, silence } = await askForLife(this.#generation);
    if (figures) this.#tell(figures);
    if (this.#isStopped) return;
    if (silence === undefined) this.#schedule();
    else await this.#generation.end(silence, this.#lastSign);
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
