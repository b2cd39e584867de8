import type { Stat } from "./statistics.ts";
import type { RunCounts, RunResult, StoredEntry, StoredRun } from "./storage.ts";

/** The entry in a row of `entryQuery`. */
export function toEntry(row: Readonly<Record<string, unknown>>): StoredEntry {
  return {
    id: Number(row["id"]),
    at: Number(row["at"]),
    kind: String(row["kind"]),
    device: textOf(row["device"]),
    what: String(row["what"]),
    from: textOf(row["before_value"]),
    to: textOf(row["after_value"]),
    cause: String(row["cause"]),
    times: textOf(row["times"]),
    run: textOf(row["run"]),
    name: textOf(row["name"]),
    room: textOf(row["room"]),
  };
}

/** The run in a row of `runQuery`; the trace is packed differently in each storage. */
export function toRun(row: Readonly<Record<string, unknown>>, trace: string): StoredRun {
  return {
    number: Number(row["number"]),
    id: String(row["id"]),
    automation: String(row["automation"]),
    name: String(row["name"]),
    at: Number(row["at"]),
    endedAt: Number(row["ended_at"]),
    result: row["result"] as RunResult,
    error: textOf(row["error"]),
    cause: String(row["cause"]),
    trace,
  };
}

/** The numbers in the rows of `runCountQuery`. */
export function toCounts(rows: readonly Readonly<Record<string, unknown>>[]): RunCounts {
  const counts = { completed: 0, stopped: 0, failed: 0, cancelled: 0 };
  for (const row of rows) counts[row["result"] as RunResult] = Number(row["count"]);
  return counts;
}

/** A number of a column; `NaN` for NULL, which stands for an unknown value. */
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : NaN);

/** The number as it is stored. */
export const nullIfUnknown = (value: number): number | null => (Number.isNaN(value) ? null : value);

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** The columns min, mean, max, sum and known_ms of an hour. */
export function figuresOf(stat: Stat | undefined): (number | null)[] {
  if (!stat) return [null, null, null, 0, 0];
  return [stat.min, stat.mean, stat.max, stat.sum, Math.round(stat.knownMs)];
}
