import type { LogFields } from "@mantel/plugin-sdk";
import type { LogLevel } from "@mantel/plugin-sdk/protocol";
import type { HostLog } from "../../host/log.ts";

export interface CollectedRecord {
  readonly level: LogLevel;
  readonly sentence: string;
  readonly fields: LogFields;
}

/** A log whose records a test can look at. */
export interface CollectedLog extends HostLog {
  readonly records: readonly CollectedRecord[];
}

export function collectedLog(): CollectedLog {
  const records: CollectedRecord[] = [];
  const logWith = (carried: LogFields): CollectedLog => {
    const write = (level: LogLevel) => (sentence: string, fields?: LogFields) =>
      void records.push({ level, sentence, fields: { ...carried, ...fields } });
    return {
      records,
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      with: (fields) => logWith({ ...carried, ...fields }),
      setLevel: () => undefined,
    };
  };
  return logWith({});
}
