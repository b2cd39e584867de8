import type { Log, LogFields } from "@mantel/plugin-sdk";
import type { LogLevel } from "@mantel/plugin-sdk/protocol";
import { pino, type Logger } from "pino";
import pretty from "pino-pretty";

/** The host's log. Records go to standard error: lines for people on a terminal, JSON elsewhere. */
export interface HostLog extends Log {
  /** A log whose records all carry `fields`. */
  with(fields: LogFields): HostLog;
  setLevel(level: LogLevel): void;
}

/** Opens the log. `terminal` chooses the form for people. */
export function openLog(level: LogLevel, terminal: boolean): HostLog {
  const stream = terminal
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname", translateTime: "HH:MM:ss" })
    : pino.destination({ dest: 2, sync: true });
  return wrap(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream));
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
