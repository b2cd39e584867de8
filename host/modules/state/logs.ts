import { boundedFields, boundedSentence } from "@mantel/plugin-sdk/log-record";
import { LOG_LEVELS, type LogLevel, type LogRecord } from "@mantel/plugin-sdk/protocol";
import type { LeftOpen, LogEntry, ModuleFault } from "../../api/module.ts";
import type { HostLog } from "../../log.ts";

const KEPT = 500;
const PER_SECOND = 200;
/** The records per second that remain of a flood, so that the host's own log stays readable and small. */
const PER_SECOND_OF_FLOOD = 5;

/** A filter for records. Absent fields match all. */
export interface LogQuery {
  /** The lowest level. */
  readonly level?: LogLevel;
  /** ISO 8601: records from this time on. */
  readonly since?: string;
}

/** The last records of one module. Records of a flood are counted instead of stored. */
export class ModuleLog {
  readonly #log: HostLog;
  readonly #added: (entry: LogEntry) => void;
  #entries: LogEntry[] = [];
  #second = 0;
  #inSecond = 0;
  #isFlooding = false;
  #dropped = 0;

  /** `added` is called with each stored record. */
  constructor(log: HostLog, added: (entry: LogEntry) => void = () => undefined) {
    this.#log = log;
    this.#added = added;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Oldest first. */
  find({ level = "debug", since }: LogQuery): readonly LogEntry[] {
    const least = LOG_LEVELS.indexOf(level);
    const from = since === undefined ? -Infinity : Date.parse(since);
    return this.#entries.filter(
      (entry) => LOG_LEVELS.indexOf(entry.level) >= least && Date.parse(entry.at) >= from,
    );
  }

  /** Records that were dropped because there were too many. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Stores a record of the plugin and writes it to the host's log. */
  record({ level, sentence, fields, dropped }: LogRecord): void {
    if (Number.isSafeInteger(dropped)) this.#dropped += Math.max(0, dropped ?? 0);
    if (this.#floods()) return;
    const entry: LogEntry = {
      at: new Date().toISOString(),
      level: LOG_LEVELS.includes(level) ? level : "info", // untrusted: from another process
      sentence: boundedSentence(sentence),
      ...(typeof fields === "object" && fields ? { fields: boundedFields(fields) } : {}),
    };
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) this.#entries = this.#entries.slice(-KEPT);
    this.#log[entry.level](entry.sentence, entry.fields);
    this.#added(entry);
  }

  /** Logs a fault of the module itself. */
  readonly fault = (sentence: string, fault: ModuleFault): void =>
    this.record({ level: "error", sentence, fields: { ...fault } });

  #floods(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#isFlooding &&= this.#inSecond > PER_SECOND_OF_FLOOD;
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond++;
    if (this.#inSecond <= (this.#isFlooding ? PER_SECOND_OF_FLOOD : PER_SECOND)) return false;
    if (!this.#isFlooding) this.#log.warn("too many log records; dropping most of them");
    this.#isFlooding = true;
    this.#dropped++;
    return true;
  }
}

/** Logs leaks in the module's log, where the author sees them right after the save. */
export function logLeaks(leftOpen: readonly LeftOpen[], log: ModuleLog): void {
  if (leftOpen.length === 0) return;
  const fields = { leftOpen: leftOpen.map(sentenceOf) };
  log.record({ level: "warn", sentence: "the old code left something open", fields });
}

/** A sentence such as `2 x timer opened at index.ts:12:5`. */
function sentenceOf({ kind, count, file, line, column, path }: LeftOpen): string {
  const what = path === undefined ? kind : `${kind} ${path}`;
  const where =
    file === undefined ? "outside the plugin's own files" : `at ${file}:${line}:${column}`;
  return `${count > 1 ? `${count} x ` : ""}${what}${path === undefined ? ` opened ${where}` : ""}`;
}
