import type { Log } from "@mantel/plugin-sdk";

const REASONS = 200;

/** Counts what was left out, by reason, and logs each reason at its first time and at each tenfold. */
export class Refusals {
  readonly #log: Log;
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `where` is what it concerns this time, such as a topic. */
  count(sentence: string, reason: string, where: string): void {
    const key = `${sentence}: ${reason}`;
    if (!this.#counts.has(key) && this.#counts.size >= REASONS) return;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.#log.warn(sentence, { reason, where: where.slice(0, 200), count });
  }
}
