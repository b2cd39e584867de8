import type { StorageConnection } from "./connection.ts";
import { sorted } from "./points.ts";
import type { Series, SeriesTable } from "./series.ts";
import { type Carry, HOUR_MS, merged, NOTHING, statsOf, STEP_MS } from "./statistics.ts";
import type { ClosedHour } from "./storage.ts";

/** Reports of an hour may still be on their way for this long. */
const SETTLED_MS = 60_000;
/** A clock that was ahead leaves reports in the future; they are closed when they are further ahead than this. */
const AHEAD_MS = 48 * HOUR_MS;

/** Stores the hours that are over, with their figures, and forgets their reports. */
export async function closeHours(
  table: SeriesTable,
  connection: StorageConnection,
  now: number,
): Promise<void> {
  const hours = new Map<number, Series[]>();
  for (const series of table.all()) {
    for (const hour of series.open.keys()) {
      const isOver = (hour + 1) * HOUR_MS + SETTLED_MS <= now;
      const isAhead = hour * HOUR_MS > now + AHEAD_MS;
      if (isOver || isAhead) hours.set(hour, [...(hours.get(hour) ?? []), series]);
    }
  }
  for (const [hour, all] of [...hours].toSorted(([a], [b]) => a - b)) {
    const closed: ClosedHour[] = [];
    for (const series of all) closed.push(await closedHour(series, connection, hour));
    await connection.call((storage) => storage.close(hour, closed));
    for (const [index, series] of all.entries()) {
      series.open.delete(hour);
      const { isLast, carry = NOTHING } = closed[index] ?? {};
      if (isLast) Object.assign(series, { carry, closedHour: hour });
    }
  }
}

/** The hour of a series with its reports, also those of before if it was closed already. */
async function closedHour(
  { row, open, closedHour: last, carry }: Series,
  connection: StorageConnection,
  hour: number,
): Promise<ClosedHour> {
  const isLast = hour > last;
  const [stored] = isLast
    ? []
    : await connection.call((storage) => storage.curves(row.id, hour, hour + 1));
  const own = open.get(hour)?.curve() ?? { at: [], value: [] };
  const curve = stored
    ? sorted({
        at: [...stored.curve.at, ...own.at],
        value: [...stored.curve.value, ...own.value],
      })
    : own;
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
