import type { Log, LogFields } from "../context.ts";
import { boundedFields, boundedSentence } from "../log-record.ts";
import type { LogLevel } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";

/** Records per second. Further records are counted and dropped here, where they cost the host nothing. */
const PER_SECOND = 500;

/** Creates a log that sends its records to the host. */
export function createLog(host: HostLink): Log {
  const limit = new RecordLimit();
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) => {
    if (!limit.take()) return;
    const dropped = limit.refused();
    host.notify("log", {
      level,
      sentence: boundedSentence(sentence),
      ...(fields ? { fields: boundedFields(fields) } : {}),
      ...(dropped > 0 ? { dropped } : {}),
    });
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Limits the records per second and counts the dropped ones. */
class RecordLimit {
  #second = 0;
  #taken = 0;
  #refused = 0;

  take(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#taken = 0;
    this.#second = second;
    this.#taken++;
    if (this.#taken <= PER_SECOND) return true;
    this.#refused++;
    return false;
  }

  /** Returns the number of dropped records since the last call. */
  refused(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }
}
