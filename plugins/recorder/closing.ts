import type { StorageConnection } from "./connection.ts";
import { mergedCurve } from "./points.ts";
import type { Series, SeriesTable } from "./series.ts";
import { type Carry, HOUR_MS, merged, NOTHING, statsOf, STEP_MS } from "./statistics.ts";
import type { ClosedHour } from "./storage.ts";

/** Reports of an hour may still be on their way for this long. */
const SETTLED_MS = 60_000;
/** A clock that was ahead leaves reports in the future; they are closed when they are further ahead than this. */
const AHEAD_MS = 48 * HOUR_MS;
/** Series that are closed in one step. */
const SERIES_AT_ONCE = 20;

/** The last closed hour of a series, and the value at its end. */
type End = Pick<Series, "closedHour" | "carry">;
/** By the ids of series: the ends of hours that may not be stored yet. */
type Ends = Map<number, End>;

/**
 * Stores the hours that are over, with their figures, a few series in each step. A step gives what is to be done when it
 * survives a power cut. After a crash between two steps the next start finds the reports of the whole hour again.
 */
export async function* closeHours(
  table: SeriesTable,
  connection: StorageConnection,
  now: number,
): AsyncGenerator<() => void> {
  const ends: Ends = new Map();
  for (const [hour, all] of hoursThatAreOver(table, now)) {
    const recent = await connection.call((storage) => storage.lastRecent());
    for (let first = 0; first < all.length; first += SERIES_AT_ONCE) {
      const part = all.slice(first, first + SERIES_AT_ONCE);
      const closed: ClosedHour[] = [];
      for (const series of part) {
        const end = ends.get(series.row.id) ?? series;
        const next = await closedHour(series, end, connection, hour);
        if (next.isLast) ends.set(series.row.id, { carry: next.carry, closedHour: hour });
        closed.push(next);
      }
      await connection.call((storage) => storage.close(hour, closed));
      yield () => part.forEach((series, index) => forget(series, hour, closed[index]));
    }
    await connection.call((storage) => storage.dropRecent(hour, recent));
    yield () => undefined;
  }
}

function hoursThatAreOver(table: SeriesTable, now: number): [hour: number, series: Series[]][] {
  const hours = new Map<number, Series[]>();
  for (const series of table.all()) {
    for (const hour of series.open.keys()) {
      const isOver = (hour + 1) * HOUR_MS + SETTLED_MS <= now;
      const isAhead = hour * HOUR_MS > now + AHEAD_MS;
      if (isOver || isAhead) hours.set(hour, [...(hours.get(hour) ?? []), series]);
    }
  }
  return [...hours].toSorted(([a], [b]) => a - b);
}

/** Forgets the reports of an hour that is stored. */
function forget(series: Series, hour: number, closed: ClosedHour | undefined): void {
  series.open.delete(hour);
  const { isLast, carry = NOTHING } = closed ?? {};
  if (isLast) Object.assign(series, { carry, closedHour: hour });
}

/** The hour of a series with its reports, also those of before if it was closed already. */
async function closedHour(
  { row, open }: Series,
  { closedHour: last, carry }: End,
  connection: StorageConnection,
  hour: number,
): Promise<ClosedHour> {
  const isLast = hour > last;
  const [stored] = isLast
    ? []
    : await connection.call((storage) => storage.curves(row.id, hour, hour + 1));
  const own = open.get(hour)?.curve() ?? { at: [], value: [] };
  const curve = stored ? mergedCurve([stored.curve, own]) : own;
  const before = isLast ? carry : await carryBefore(row.id, connection, hour);
  const from = hour * HOUR_MS;
  const span = { from, to: from + HOUR_MS, stepMs: STEP_MS };
  const figures = statsOf(curve, span, { carry: before, isCounter: row.isCounter });
  const stat = merged(figures.stats, span.from, span.to);
  return { series: row.id, hour, curve, five: figures.stats, stat, carry: figures.carry, isLast };
}

async function carryBefore(
  series: number,
  connection: StorageConnection,
  hour: number,
): Promise<Carry> {
  const value = (await connection.call((storage) => storage.lastBefore(series, hour))) ?? NaN;
  return { value, known: value };
}
