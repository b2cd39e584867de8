import type { HostLog } from "../log.ts";

/** Counts what bridges sent and what was left out. What is wrong once goes on being wrong: each tenfold is logged. */
export class LeftOut {
  readonly #log: HostLog;
  readonly #sentence: string;
  readonly #counts = new Map<string, number>();

  constructor(log: HostLog, sentence: string) {
    this.#log = log;
    this.#sentence = sentence;
  }

  add(bridgeId: string, error: unknown): void {
    const count = (this.#counts.get(bridgeId) ?? 0) + 1;
    this.#counts.set(bridgeId, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.#log.warn(this.#sentence, { module: bridgeId, count, error });
  }

  forget(bridgeId: string): void {
    this.#counts.delete(bridgeId);
  }
}
