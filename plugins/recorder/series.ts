import { type Points, PackedCurve } from "./points.ts";
import { type Carry, HOUR_MS, hourOf, NOTHING } from "./statistics.ts";
import type { SeriesRow } from "./storage.ts";

/** A recorded field with what is not stored as closed hours. */
export interface Series {
  readonly row: SeriesRow;
  /** The reports of hours that are not closed, by hour. */
  readonly open: Map<number, PackedCurve>;
  /** The value at the end of the last closed hour. */
  carry: Carry;
  /** The last closed hour. */
  closedHour: number;
  last: number;
}

/** All recorded fields by the ids of their series. */
export class SeriesTable {
  readonly #series = new Map<number, Series>();

  /** All series, in the order in which they were added. */
  all(): Series[] {
    return [...this.#series.values()];
  }

  rows(): SeriesRow[] {
    return this.all().map(({ row }) => row);
  }

  get(id: number): Series {
    const series = this.#series.get(id);
    if (series) return series;
    throw new Error(`no series has the id ${id}`);
  }

  /** Adds a series, or changes its row. */
  add(row: SeriesRow, { carry, closedHour } = { carry: NOTHING, closedHour: -1 }): void {
    const known = this.#series.get(row.id);
    const fresh = { open: new Map<number, PackedCurve>(), carry, closedHour, last: carry.value };
    this.#series.set(row.id, { ...fresh, ...known, row });
  }

  /** Keeps reports in memory until their hours are closed. */
  remember({ series: ids, at, value }: Points): void {
    for (const [index, id] of ids.entries()) {
      const series = this.#series.get(id);
      if (series) keep(series, at[index] ?? 0, value[index] ?? NaN);
    }
  }
}

function keep(series: Series, at: number, value: number): void {
  const hour = hourOf(at);
  const packed = series.open.get(hour) ?? new PackedCurve(hour * HOUR_MS);
  packed.add(at, value);
  series.open.set(hour, packed);
  series.last = value;
}
