import type { Stat } from "./statistics.ts";
import type { StoredEntry } from "./storage.ts";

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
    name: textOf(row["name"]),
    room: textOf(row["room"]),
  };
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
