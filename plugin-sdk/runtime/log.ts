import type { Log, LogFields } from "../context.ts";
import { boundedFields, boundedSentence } from "../log-record.ts";
import type { LogLevel } from "../protocol.ts";
import type { HostLink } from "./host-link.ts";

/** More is dropped here already, where it costs the host nothing, and counted. */
const PER_SECOND = 500;

/** A log whose records go to the host. */
export function createLog(host: HostLink): Log {
  const allowance = new Allowance();
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) => {
    if (!allowance.take()) return;
    const dropped = allowance.refused();
    host.notify("log", {
      level,
      sentence: boundedSentence(sentence),
      ...(fields ? { fields: boundedFields(fields) } : {}),
      ...(dropped > 0 ? { dropped } : {}),
    });
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** So many records a second, and a count of those beyond. */
class Allowance {
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

  /** How many were refused since this was asked last. */
  refused(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }
}
