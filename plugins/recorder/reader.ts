import type { StorageConnection } from "./connection.ts";
import type { CurveAnswer, CurveRequest, Point, RawRequest, StatRequest } from "./history.ts";
import { type Curve, mergedCurve } from "./points.ts";
import { clipped, heldStat, pointsOf, resolutionFor, spansOf } from "./segments.ts";
import type { Series, SeriesTable } from "./series.ts";
import { Figures, HOUR_MS, hourOf, overlapMs, type Stat, statsOf, STEP_MS } from "./statistics.ts";
import type { StoredHour } from "./storage.ts";

/** Makes curves and figures of what is stored and of the hours that are not closed. */
export class Reader {
  readonly #series: SeriesTable;
  readonly #connection: StorageConnection;
  readonly #clock: () => number;

  constructor(series: SeriesTable, connection: StorageConnection, clock: () => number) {
    this.#series = series;
    this.#connection = connection;
    this.#clock = clock;
  }

  async curve({ series: id, from, to, points }: CurveRequest): Promise<CurveAnswer> {
    const series = this.#series.get(id);
    const wanted = resolutionFor((to - from) / points);
    const span = { from, to: this.#end(series, to), points };
    if (span.to <= from) return { points: [], resolution: wanted };
    const oldest = hourOf(span.from);
    const spans = wanted === "raw" ? await this.#rawSpans(series, span) : undefined;
    if (spans) return { points: pointsOf(spans, span), resolution: "raw" };
    const step = wanted === "1h" ? "hour" : "five";
    const stats = await this.#stats(series, { ...span, splitHours: new Set([oldest]) }, step);
    return { points: pointsOf(stats, span), resolution: step === "hour" ? "1h" : "5m" };
  }

  /** The reports as spans; `undefined` if some of them were dropped. */
  async #rawSpans(
    series: Series,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<Stat[] | undefined> {
    const { id } = series.row;
    const [first, end] = [hourOf(from), hourOf(to - 1) + 1];
    const stored = await this.#connection.call((storage) => storage.curves(id, first, end));
    const hours = await this.#connection.call((storage) => storage.hours(id, first, end, "hour"));
    if (stored.length < hours.length) return undefined;
    const curve = this.#joinedCurve(series, stored, first, end);
    const before = await this.#lastBefore(series, first);
    const whole = { at: [first * HOUR_MS, ...curve.at], value: [before, ...curve.value] };
    return spansOf(whole, from, to);
  }

  /** The end of a span, which is not in the future: a report holds until the present. */
  #end({ open }: Series, to: number): number {
    const last = Math.max(-1, ...[...open.values()].map(({ last: at }) => at));
    return Math.min(to, Math.max(this.#clock(), last + 1));
  }

  #joinedCurve(
    series: Series,
    stored: readonly { readonly hour: number; readonly curve: Curve }[],
    first: number,
    end: number,
  ): Curve {
    const parts = [
      ...stored,
      ...[...series.open].map(([hour, packed]) => ({ hour, curve: packed.curve() })),
    ].filter(({ hour }) => hour >= first && hour < end);
    return mergedCurve(parts.map(({ curve }) => curve));
  }

  /** The value at the begin of an hour. */
  async #lastBefore(series: Series, hour: number): Promise<number> {
    const open = [...series.open].filter(([each]) => each < hour).toSorted(([a], [b]) => b - a);
    const [[, packed] = []] = open;
    const last = packed?.curve().value.at(-1);
    if (last !== undefined) return last;
    if (series.closedHour >= 0 && series.closedHour < hour) return series.carry.value;
    return (
      (await this.#connection.call((storage) => storage.lastBefore(series.row.id, hour))) ?? NaN
    );
  }

  /** Figures from `from` to `to` without gaps, as far as the value was known. */
  async #stats(
    series: Series,
    span: { readonly from: number; readonly to: number; readonly splitHours: ReadonlySet<number> },
    step: "five" | "hour",
  ): Promise<Stat[]> {
    const [first, end] = [hourOf(span.from), hourOf(span.to - 1) + 1];
    const found = await this.#storedHours(series, { ...span, first, end }, step);
    let held = await this.#lastBefore(series, first);
    const openHours = [...series.open]
      .filter(([hour]) => hour >= first && hour < end && !found.has(hour))
      .toSorted(([a], [b]) => a - b);
    let known = Number.isNaN(held) ? series.carry.known : held;
    for (const [hour, packed] of openHours) {
      const before = [...found.values()].filter((each) => each.hour < hour).at(-1)?.last ?? held;
      known = Number.isNaN(before) ? known : before;
      const from = hour * HOUR_MS;
      const { stats, carry } = statsOf(
        packed.curve(),
        { from, to: Math.min(from + HOUR_MS, this.#end(series, span.to)), stepMs: STEP_MS },
        { carry: { value: before, known }, isCounter: series.row.isCounter },
      );
      known = carry.known;
      found.set(hour, { hour, stats, last: carry.value });
    }
    const all: Stat[] = [];
    let until = span.from;
    for (const { hour, stats, last } of [...found.values()].toSorted((a, b) => a.hour - b.hour)) {
      all.push(...heldStat(held, until, hour * HOUR_MS), ...stats);
      held = last;
      until = Math.max(until, (hour + 1) * HOUR_MS);
    }
    all.push(...heldStat(held, until, this.#end(series, span.to)));
    return all.flatMap((stat) => clipped(stat, span.from, span.to));
  }

  /** Stored hours by their number. Of hours to split, figures of five minutes. */
  async #storedHours(
    { row: { id } }: Series,
    span: {
      readonly first: number;
      readonly end: number;
      readonly splitHours: ReadonlySet<number>;
    },
    step: "five" | "hour",
  ): Promise<Map<number, StoredHour>> {
    const { first, end, splitHours } = span;
    const hours = await this.#connection.call((storage) => storage.hours(id, first, end, step));
    const found = new Map(hours.map((each) => [each.hour, each]));
    for (const hour of step === "hour" ? splitHours : []) {
      const [fine] = await this.#connection.call((storage) =>
        storage.hours(id, hour, hour + 1, "five"),
      );
      if (fine) found.set(hour, fine);
    }
    return found;
  }

  async statistics({ series: id, bounds }: StatRequest): Promise<(Stat | null)[]> {
    const series = this.#series.get(id);
    const [from = 0, to = 0] = [bounds[0], bounds.at(-1)];
    const split = bounds.filter((bound) => bound % HOUR_MS !== 0).map(hourOf);
    const stats = await this.#stats(series, { from, to, splitHours: new Set(split) }, "hour");
    let next = 0;
    return bounds.slice(0, -1).map((start, index) => {
      const end = bounds[index + 1] ?? start;
      const figures = new Figures();
      while ((stats[next]?.to ?? Infinity) <= start) next++;
      for (let at = next; (stats[at]?.from ?? Infinity) < end; at++) {
        const stat = stats[at];
        const part = stat ? overlapMs(stat, start, end) : 0;
        if (stat && part > 0) figures.include(stat, part);
      }
      return figures.isKnown ? figures.stat(start, end) : null;
    });
  }

  async raw({ series: id, from, to, limit }: RawRequest): Promise<readonly Point[]> {
    const series = this.#series.get(id);
    const points: Point[] = [];
    const end = hourOf(to - 1) + 1;
    for (let first = hourOf(from); first < end && points.length < limit; first += 24) {
      const until = Math.min(end, first + 24);
      const stored = await this.#connection.call((storage) => storage.curves(id, first, until));
      const { at, value } = this.#joinedCurve(series, stored, first, until);
      for (const [index, instant] of at.entries()) {
        if (instant < from || instant >= to || points.length >= limit) continue;
        const each = value[index] ?? NaN;
        points.push({ at: instant, value: Number.isNaN(each) ? null : each });
      }
    }
    return points;
  }
}
