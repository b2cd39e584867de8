import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { Log, LogFields } from "@mantel/plugin-sdk";
import type { LogLevel } from "@mantel/plugin-sdk/protocol";
import { type Logger, type LoggerOptions, pino } from "pino";
import type PinoPretty from "pino-pretty";

/** The host's log. Records go to standard error: readable lines on a terminal, JSON elsewhere. */
export interface HostLog extends Log {
  /** A log that adds `fields` to all records, at its own level while `level` returns one. */
  with(fields: LogFields, level?: () => LogLevel | undefined): HostLog;
  setLevel(level: LogLevel): void;
}

/** The log of a process. */
export interface ProcessLog extends HostLog {
  /** Resolves when every record is written, or when standard error was not read for a while. */
  flushed(): Promise<void>;
}

/** The most bytes that wait for a reader of standard error; further records are dropped and counted. */
const MAX_UNWRITTEN_BYTES = 2 ** 20;
const FLUSH_DEADLINE_MS = 500;
/** Loads a package that only a terminal needs. */
const load = createRequire(import.meta.url);
/** One counter for the process, which has one standard error. */
let unreadRecords = 0;

/** The number of records dropped because standard error was not read. */
export function unreadRecordCount(): number {
  return unreadRecords;
}

/** Opens the log. `terminal` selects the readable form. A log that cannot be written does not stop anything. */
export function openLog(level: LogLevel, terminal: boolean): ProcessLog {
  let dropped = 0;
  const format = terminal ? readableFormatter() : (record: string) => record;
  const write = (record: string): void => {
    if (process.stderr.writableLength > MAX_UNWRITTEN_BYTES) {
      dropped++;
      unreadRecords++;
      return;
    }
    if (dropped > 0) {
      const count = dropped;
      dropped = 0; // reset first, because this record is written the same way
      logger.warn({ dropped: count }, "standard error was not read; records were dropped");
    }
    makeNonBlocking();
    process.stderr.write(visible(format(record)), () => undefined); // a record that cannot be written is lost
  };
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) }, // level names, as in the config
  };
  const logger = pino(options, { write });
  // Without a listener, an error would end the process.
  if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => undefined);
  return { ...wrap(logger), flushed };
}

/**
 * Characters that JSON leaves unescaped, and some log readers or terminals interpret: line ends, C1, directions.
 */
const OBEYED = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes control characters, so that nobody can forge or hide a line of the log. The record remains valid JSON.
 */
function visible(record: string): string {
  return record.replace(OBEYED, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function readableFormatter(): (record: string) => string {
  const { prettyFactory } = load("pino-pretty") as typeof PinoPretty;
  return prettyFactory({
    colorize: process.stderr.hasColors?.() ?? false,
    ignore: "pid,hostname",
    translateTime: "SYS:HH:MM:ss",
    messageFormat: (record, key) => String(record[key]).replace(/\p{Cc}/gu, escaped),
    customPrettifiers: { frame: (frame) => (typeof frame === "string" ? `\n${frame}` : "") }, // a code frame of several lines
  });
}

/**
 * Makes standard error non-blocking: a stalled reader, for example a terminal after Ctrl-S, would otherwise stop the
 * host. Each process that inherits it, such as esbuild's, makes it blocking again for all who share it (libuv does
 * that when it starts one).
 */
function makeNonBlocking(): void {
  const { _handle } = process.stderr as { _handle?: { setBlocking?: (on: boolean) => void } };
  _handle?.setBlocking?.(false);
}

async function flushed(): Promise<void> {
  const endsAt = performance.now() + FLUSH_DEADLINE_MS;
  while (process.stderr.writableLength > 0 && performance.now() < endsAt) await delay(5);
}

/** `follow` is called before each record, and sets the current level. */
function wrap(logger: Logger, follow: () => void = () => undefined): HostLog {
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) => {
    follow();
    if (logger.isLevelEnabled(level)) logger[level](readable(fields ?? {}), sentence);
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with(fields, level) {
      const child = logger.child(fields);
      if (!level) return wrap(child, follow);
      return wrap(child, () => {
        const minimumLevel = level() ?? logger.level;
        if (child.level !== minimumLevel) child.level = minimumLevel;
      });
    },
    setLevel(level) {
      logger.level = level;
    },
  };
}

/** Adds the stack and the causes of errors, which JSON would drop. */
function readable(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? pino.stdSerializers.errWithCause(value) : value,
    ]),
  );
}
