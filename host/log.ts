import type { Log, LogFields } from "@mantel/plugin-sdk";
import type { LogLevel } from "@mantel/plugin-sdk/protocol";
import { type Logger, type LoggerOptions, pino } from "pino";
import pretty from "pino-pretty";

/** The host's log. Records go to standard error: lines for people on a terminal, JSON elsewhere. */
export interface HostLog extends Log {
  /** A log whose records all carry `fields`. */
  with(fields: LogFields): HostLog;
  setLevel(level: LogLevel): void;
}

/** What is kept of records that cannot be written, such as on a full disk; more of them is dropped. */
const MAX_UNWRITTEN_BYTES = 2 ** 20;

/** Opens the log. `terminal` chooses the form for people. A log that cannot be written ends nothing. */
export function openLog(level: LogLevel, terminal: boolean): HostLog {
  const stream = terminal
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname", translateTime: "HH:MM:ss" })
    : pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  stream.on("error", () => undefined); // without a listener, it would end the process
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) }, // by name, as the config has it
  };
  return wrap(pino(options, stream));
}

function wrap(logger: Logger): HostLog {
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) =>
    logger[level](readable(fields ?? {}), sentence);
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => wrap(logger.child(fields)),
    setLevel(level) {
      logger.level = level;
    },
  };
}

/** Errors keep their stack and their causes; JSON alone would leave nothing of them. */
function readable(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? pino.stdSerializers.errWithCause(value) : value,
    ]),
  );
}
