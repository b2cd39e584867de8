import type { Stat } from "./statistics.ts";
import type {
  Batch,
  DeviceRow,
  EntryFilter,
  RunCounts,
  RunFilter,
  RunPage,
  SeriesRow,
  StoredEntry,
  StoredRun,
} from "./storage.ts";

/** A point of a curve, as `history.readings` gives it, with its time in epoch milliseconds. */
export interface Point {
  readonly at: number;
  /** `null` while the value is unknown. */
  readonly value: number | null;
  readonly min?: number;
  readonly max?: number;
}

export interface CurveRequest {
  readonly series: number;
  readonly from: number;
  readonly to: number;
  /** The most points. */
  readonly points: number;
}

export interface CurveAnswer {
  readonly points: readonly Point[];
  readonly resolution: "raw" | "5m" | "1h";
}

export interface StatRequest {
  readonly series: number;
  /** The begins of periods, and the end of the last one. */
  readonly bounds: readonly number[];
}

export interface RawRequest {
  readonly series: number;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Limits after which records are deleted. */
export interface Retention {
  readonly rawDays: number;
  readonly logbookDays: number;
  readonly maxBytes: number;
  /** Days of reports, by device id, where they differ. */
  readonly exceptions: Readonly<Record<string, number>>;
}

/** The contents of a history at its start. */
export interface Known {
  readonly devices: readonly DeviceRow[];
  /** The series with their last values, which are `NaN` if they were unknown. */
  readonly series: readonly (SeriesRow & { readonly value: number })[];
  /** The devices that could not be reached, by the logbook. */
  readonly unreachable: readonly string[];
  /** Until then everything was recorded; -1 in an empty history. */
  readonly lastAt: number;
}

/** The history, in this thread or in another one. Calls are done one after the other. */
export interface History {
  /** @throws StorageUnusable */
  open(): Promise<Known>;
  /** Keeps a batch until the next `record`. Answers include it, and a power cut may lose it. */
  hold(batch: Batch): Promise<void>;
  /** Resolves when the batch and those held survive a power cut, or wait in memory for room on the disk. */
  record(batch: Batch): Promise<void>;
  /** Works for a short time on closing hours and dropping what is too old or too much. Resolves to true if there is more. */
  maintain(now: number): Promise<boolean>;
  curve(request: CurveRequest): Promise<CurveAnswer>;
  /** The figures of each period; `null` where the value was never known. */
  statistics(request: StatRequest): Promise<(Stat | null)[]>;
  /** The reports from `from`, oldest first. */
  raw(request: RawRequest): Promise<readonly Point[]>;
  entries(filter: EntryFilter): Promise<StoredEntry[]>;
  runs(page: RunPage): Promise<StoredRun[]>;
  countRuns(filter: RunFilter): Promise<RunCounts>;
  bytes(): Promise<number>;
  close(): Promise<void>;
}

/** A history whose methods go through a function, such as one that calls another thread. */
export function historyThrough(
  call: <T>(method: keyof History, input?: unknown) => Promise<T>,
): History {
  return {
    open: () => call("open"),
    hold: (batch) => call("hold", batch),
    record: (batch) => call("record", batch),
    maintain: (now) => call("maintain", now),
    curve: (request) => call("curve", request),
    statistics: (request) => call("statistics", request),
    raw: (request) => call("raw", request),
    entries: (filter) => call("entries", filter),
    runs: (page) => call("runs", page),
    countRuns: (filter) => call("countRuns", filter),
    bytes: () => call("bytes"),
    close: () => call("close"),
  };
}

/** Calls a method of a history by its name. */
export function callHistory(
  history: History,
  method: keyof History,
  input: unknown,
): Promise<unknown> {
  return (history[method] as (given: unknown) => Promise<unknown>).call(history, input);
}

/** Receives user-facing messages. */
export interface Notices {
  warn(sentence: string, fields?: Readonly<Record<string, unknown>>): void;
  /** The reason why nothing can be stored now; `undefined` when it can again. */
  degraded(reason: string | undefined): void;
}
