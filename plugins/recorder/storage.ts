import type { Cause, HistoryRun } from "@mantel/plugin-sdk";
import type { Curve, Points } from "./points.ts";
import type { Carry, Stat } from "./statistics.ts";

/** A device as it was last seen. Its history stays when it is removed. */
export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly room: string | null;
  readonly kind: string;
}

/** A recorded field of a device. */
export interface SeriesRow {
  /** From 1; never used again. */
  readonly id: number;
  readonly device: string;
  /** `temperature`, `light.power`, `extra.linkQuality`. */
  readonly field: string;
  readonly unit: string | null;
  readonly isCounter: boolean;
}

/** A series with its value at the end of its last closed hour. */
export interface StoredSeries extends SeriesRow {
  readonly carry: Carry;
  /** Its last closed hour; -1 without one. */
  readonly closedHour: number;
}

export type RunResult = HistoryRun["result"];

/** An entry of the logbook before it is stored. */
export interface NewEntry {
  readonly at: number;
  readonly kind: string;
  readonly device: string | null;
  readonly what: string;
  /** JSON; null if absent. */
  readonly from: string | null;
  readonly to: string | null;
  readonly cause: Cause;
  /** The id of the run that the entry is about. */
  readonly run?: string;
}

/** A run of an automation that has ended. One with the same id is replaced. */
export interface NewRun {
  readonly id: string;
  readonly automation: string;
  readonly name: string;
  readonly at: number;
  readonly endedAt: number;
  readonly result: RunResult;
  readonly error: string | null;
  readonly cause: Cause;
  /** JSON. */
  readonly trace: string;
}

/** The changes of a second or two, as plain data, which also passes between threads. */
export interface Batch {
  /** New and changed devices. */
  readonly devices: readonly DeviceRow[];
  /** New series. */
  readonly series: readonly SeriesRow[];
  readonly points: Points;
  readonly runs: readonly NewRun[];
  /** An entry about a run that has an entry already is left out. */
  readonly entries: readonly NewEntry[];
}

/** A batch without changes. */
export const NOTHING_NEW: Batch = {
  devices: [],
  series: [],
  points: { series: [], at: [], value: [] },
  runs: [],
  entries: [],
};

/** Two batches as one. */
export function joined(first: Batch, second: Batch): Batch {
  return {
    devices: [...first.devices, ...second.devices],
    series: [...first.series, ...second.series],
    points: {
      series: [...first.points.series, ...second.points.series],
      at: [...first.points.at, ...second.points.at],
      value: [...first.points.value, ...second.points.value],
    },
    runs: [...first.runs, ...second.runs],
    entries: [...first.entries, ...second.entries],
  };
}

/** An hour of a series that will not change any more. */
export interface ClosedHour {
  readonly series: number;
  /** Hours since 1970. */
  readonly hour: number;
  readonly curve: Curve;
  /** Figures of five minutes. */
  readonly five: readonly Stat[];
  /** Absent if the value was never known. */
  readonly stat: Stat | undefined;
  readonly carry: Carry;
  /** True if it is newer than all stored hours of the series. */
  readonly isLast: boolean;
}

/** The stored part of an hour. */
export interface StoredHour {
  readonly hour: number;
  readonly stats: readonly Stat[];
  /** The value at its end; `NaN` if it was unknown. */
  readonly last: number;
}

export interface StoredEntry extends Omit<NewEntry, "cause" | "run"> {
  readonly id: number;
  /** JSON of a chain without instants. */
  readonly cause: string;
  /** As `timesOf` gives them. */
  readonly times: string | null;
  readonly run: string | null;
  readonly name: string | null;
  readonly room: string | null;
}

export interface EntryFilter {
  readonly room?: string;
  readonly device?: string;
  readonly cause?: string;
  readonly from?: number;
  readonly to?: number;
  /** The last entry of the previous page. */
  readonly after?: { readonly at: number; readonly id: number };
  readonly limit: number;
}

export interface StoredRun extends Omit<NewRun, "cause"> {
  readonly number: number;
  /** JSON of a chain without instants. */
  readonly cause: string;
}

/** Limits by the start of a run. */
export interface RunFilter {
  readonly id?: string;
  readonly automation?: string;
  readonly result?: RunResult;
  readonly from?: number;
  readonly to?: number;
}

export interface RunPage extends RunFilter {
  /** The last run of the previous page. */
  readonly after?: { readonly at: number; readonly id: number };
  readonly limit: number;
}

export type RunCounts = Readonly<Record<RunResult, number>>;

/** The contents of a storage at its start. */
export interface Loaded {
  readonly devices: readonly DeviceRow[];
  readonly series: readonly StoredSeries[];
  /** The values that no closed hour contains. */
  readonly open: Points;
  /** The devices that could not be reached, by the logbook. */
  readonly unreachable: readonly string[];
  /** The last time of `alive`; `undefined` before the first one. */
  readonly aliveAt: number | undefined;
}

type Later<T> = T | Promise<T>;

/**
 * A database of the history. Calls follow each other; none overlaps another. The first change begins a transaction, in
 * which later calls see it. After an error, the caller rolls it back.
 */
export interface Storage {
  readonly store: "sqlite" | "postgres";
  load(): Later<Loaded>;
  /** Adds a batch. @throws StorageFull */
  append(batch: Batch): Later<void>;
  /** Ends the transaction, if there is one. Returns when its changes survive a power cut. @throws StorageFull */
  commit(): Later<void>;
  /** Undoes the changes since the last `commit`. */
  rollback(): Later<void>;
  /** Stores hours that are over. @throws StorageFull */
  close(hour: number, closed: readonly ClosedHour[]): Later<void>;
  /** The last of the batches whose values are not in closed hours. */
  lastRecent(): Later<number>;
  /** Drops the values of an hour that is closed, up to a batch. */
  dropRecent(hour: number, until: number): Later<void>;
  /** The reports of stored hours; hours whose reports were dropped are absent. */
  curves(series: number, fromHour: number, toHour: number): Later<{ hour: number; curve: Curve }[]>;
  /** Figures of stored hours. Hours without a report are absent. */
  hours(
    series: number,
    fromHour: number,
    toHour: number,
    step: "five" | "hour",
  ): Later<StoredHour[]>;
  /** The value at the end of the last stored hour before this one. */
  lastBefore(series: number, hour: number): Later<number | undefined>;
  entries(filter: EntryFilter): Later<StoredEntry[]>;
  /** Runs, newest start first. */
  runs(page: RunPage): Later<StoredRun[]>;
  countRuns(filter: RunFilter): Later<RunCounts>;
  /** Drops the reports of all series before an hour where that is quick, such as whole days of rows. */
  dropDays(beforeHour: number): Later<void>;
  /** Drops the reports of a series before an hour, and keeps the figures. */
  dropCurves(series: number, beforeHour: number): Later<void>;
  /** Drops some of the entries and runs before an instant. Returns true if it has dropped any. */
  dropEntries(before: number): Later<boolean>;
  /** Drops the causes that nothing has any more. */
  dropCauses(): Later<void>;
  /** The oldest hour with reports. */
  oldestCurve(): Later<number | undefined>;
  /** Notes that everything until now is recorded. */
  alive(now: number): Later<void>;
  bytes(): Later<number>;
  /** Makes some room on a full disk, so that reports can be dropped. Called outside a transaction. */
  makeRoom(): Later<void>;
  /** True if what was dropped has left room for more reports. */
  hasRoom(): Later<boolean>;
  /** Keeps some space for the next full disk. False if there is none. */
  reserve(): Later<boolean>;
  end(): Later<void>;
}

/** The disk, or the storage of the plugin, is full. */
export class StorageFull extends Error {
  override readonly name = "StorageFull";
}

/** The database cannot be used, for a reason that a user can mend. The message is a user-facing sentence. */
export class StorageUnusable extends Error {
  override readonly name = "StorageUnusable";
}

/** The database was damaged and set aside; an empty one takes its place. */
export class StorageDamaged extends Error {
  override readonly name = "StorageDamaged";
}
