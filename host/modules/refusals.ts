import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleLog } from "./logs.ts";

/** Different faults that are told apart; what comes after them is counted together. */
const TOLD_APART = 20;
const FAULTS_SHOWN = 5;

/**
 * Tells an author, in the module's log, why the host refused what a generation told it and wants no answer
 * to. What is wrong once goes on being wrong: each fault is told at first and at each tenfold.
 */
export class Refusals {
  readonly #log: ModuleLog;
  readonly #counts = new Map<string, number>();

  constructor(log: ModuleLog) {
    this.#log = log;
  }

  add(sentence: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const count = this.#count(`${sentence} ${message}`);
    if (!Number.isInteger(Math.log10(count))) return;
    const faults = error instanceof MantelError ? error.extras.errors : undefined;
    const errors = faults ? { errors: faults.slice(0, FAULTS_SHOWN) } : {};
    this.#log.record({ level: "warn", sentence, fields: { count, error: message, ...errors } });
  }

  /** How often a fault has come now. Those that differ in numbers alone are one. */
  #count(fault: string): number {
    const numberless = fault.replaceAll(/\d+/g, "0");
    const isKnown = this.#counts.has(numberless) || this.#counts.size < TOLD_APART;
    const key = isKnown ? numberless : "";
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}
