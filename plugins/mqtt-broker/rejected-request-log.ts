import type { Log, LogFields } from "@mantel/plugin-sdk";

const LONGEST_FIELD = 200;

/** Logs rejected requests: the first of each kind, then every tenfold count, so that floods stay short. */
export class RejectedRequestLog {
  readonly #log: Log;
  readonly #times = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  count(sentence: string, fields: LogFields = {}): void {
    const times = (this.#times.get(sentence) ?? 0) + 1;
    this.#times.set(sentence, times);
    if (!Number.isInteger(Math.log10(times))) return;
    const short = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, LONGEST_FIELD) : value,
    ]);
    this.#log.warn(sentence, { ...Object.fromEntries(short), times });
  }
}
