import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleLog } from "../state/logs.ts";

/** The number of distinct errors; further ones are counted together. */
const TOLD_APART = 20;
const FAULTS_SHOWN = 5;

/**
 * Logs, in the module's log, why the host refused a call that has no answer. Such errors repeat:
 * each is logged the first time and at every power of ten.
 */
export class RejectedCallLog {
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

  /** The number of times an error occurred. Errors that differ only in numbers count as one. */
  #count(fault: string): number {
    const numberless = fault.replaceAll(/\d+/g, "0");
    const isKnown = this.#counts.has(numberless) || this.#counts.size < TOLD_APART;
    const key = isKnown ? numberless : "";
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}
