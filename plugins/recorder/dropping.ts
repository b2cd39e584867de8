import type { SeriesRow, Storage } from "./storage.ts";

/** Hours of reports that are dropped at once when there are too many. */
const DROPPED_HOURS = 24;

type Call = <T>(work: (storage: Storage) => T | Promise<T>) => Promise<T>;

/** Drops the oldest reports, those of a few series in each step. Returns false if there are none. */
export async function* dropOldest(
  call: Call,
  series: readonly SeriesRow[],
): AsyncGenerator<undefined, boolean> {
  const oldest = await call((storage) => storage.oldestCurve());
  if (oldest === undefined) return false;
  yield* dropBefore(
    call,
    series.map(({ id }) => ({ id, hour: oldest + DROPPED_HOURS })),
  );
  return true;
}

/** Drops the reports of series before an hour, those of one series in each step. */
export async function* dropBefore(
  call: Call,
  series: readonly { readonly id: number; readonly hour: number }[],
): AsyncGenerator<undefined> {
  const earliest = Math.min(...series.map(({ hour }) => hour));
  if (Number.isFinite(earliest)) await call((storage) => storage.dropDays(earliest));
  for (const { id, hour } of series) {
    await call((storage) => storage.dropCurves(id, hour));
    yield;
  }
}
